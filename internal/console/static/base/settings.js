// What this browser remembers: how it looks, and whether single keys act. Where
// storage is forbidden nothing is remembered, and all works.
export function setting(name, otherwise) {
  try {
    return localStorage.getItem("parley." + name) ?? otherwise;
  } catch {
    return otherwise;
  }
}

export function remember(name, value) {
  try {
    localStorage.setItem("parley." + name, value);
  } catch {
    // It holds for this page.
  }
}

export function applyTheme() {
  document.documentElement.dataset.theme = setting("theme", "system");
}

// toggleTheme goes to what is not shown now.
export function toggleTheme() {
  const theme = document.documentElement.dataset.theme;
  const dark = theme === "dark" || (theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "light" : "dark";
  remember("theme", dark ? "light" : "dark");
}
