/** Written by Mantine in the console. */
const chosenKey = "mantine-color-scheme-value";

/** Uses the appearance that the person chose in the console, or the one of the system. */
export function followColorScheme(): void {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => {
    const chosen = localStorage.getItem(chosenKey);
    const isDark = chosen === "dark" || (chosen !== "light" && system.matches);
    document.documentElement.classList.toggle("dark-mode", isDark);
  };
  system.addEventListener("change", apply);
  window.addEventListener("storage", apply);
  apply();
}
