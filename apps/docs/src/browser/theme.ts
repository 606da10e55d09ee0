// Runs before the page is drawn. The console has the same key, so both look alike.
const chosenKey = "mantine-color-scheme-value";
const system = matchMedia("(prefers-color-scheme: dark)");

function apply(): void {
  const chosen = localStorage.getItem(chosenKey);
  const isDark = chosen === "dark" || (chosen !== "light" && system.matches);
  document.documentElement.dataset.scheme = isDark ? "dark" : "light";
}

system.addEventListener("change", apply);
window.addEventListener("storage", apply);
document.addEventListener("scheme", apply);
apply();
