// Whatever can be done from the keyboard, by a key or by its name in the palette:
// {label, keys, act}, with repeat where a key held down goes on. A page has more of
// them, which come first.
import { HelpDialog } from "./dialog_help.js";
import { Palette } from "./palette.js";
import { SignOutDialog } from "./dialog_signout.js";
import { pages } from "./pages.js";
import { visible } from "../base/text.js";

export function commands(app) {
  return [
    ...(app.page.commands?.() ?? []),
    ...pages.map((page, i) => ({ label: `Go to ${page.label}`, keys: [String(i + 1)], act: () => app.go({ page: page.name }) })),
    ...(app.asks.items.length ? [{ label: "Answer what is asked of you", keys: ["i"], act: () => app.answer(app.asks.items[0]) }] : []),
    { label: "Verify the record", keys: ["v"], act: () => app.verification.show() },
    { label: "All commands", keys: ["Ctrl K"], act: () => app.show(new Palette(app)) },
    { label: "Light or dark", keys: ["t"], act: () => app.toggleTheme() },
    { label: "Keys", keys: ["?"], act: () => app.show(new HelpDialog(app)) },
    { label: "Sign out…", act: () => app.show(new SignOutDialog(app)) },
    ...(app.session.spaces ?? []).filter((s) => s.name !== app.address.space)
      .map((s) => ({ label: `Go to space ${visible(s.name)}`, act: () => app.go({ space: s.name }) })),
  ];
}

// commandOf is what a single key does now.
export function commandOf(app, key) {
  return commands(app).find((c) => c.keys?.includes(key));
}
