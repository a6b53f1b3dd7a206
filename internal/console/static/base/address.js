// The address bar says what is shown, so that a view can be linked and the
// browser's buttons work.
export const names = ["space", "page", "proposal", "id", "who", "view", "at", "from", "to", "kind", "context", "subtree", "state", "q", "since", "until"];

// everything is an address of a page that asks for nothing in particular: what is to
// be shown is added to it.
export const everything = Object.fromEntries(names.filter((name) => name !== "space" && name !== "page").map((name) => [name, ""]));

export function readAddress(search = location.search) {
  const given = new URLSearchParams(search);
  const address = {};
  for (const name of names) address[name] = given.get(name) ?? "";
  address.page ||= "room";
  return address;
}

export function writeAddress(address, { push = false } = {}) {
  const given = new URLSearchParams();
  for (const name of names) if (address[name] && address[name] !== "room") given.set(name, address[name]);
  const url = location.pathname + (given.size ? "?" + given : "");
  history[push ? "pushState" : "replaceState"](null, "", url);
}

// takeCode is the code of a sign-in link. It leaves the address at once: neither
// the history nor a screenshot should keep it.
export function takeCode() {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (code) history.replaceState(null, "", location.pathname + location.search);
  return code;
}
