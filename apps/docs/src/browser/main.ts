import { projectKey, siteUrl } from "./place.ts";

const schemes = ["light", "dark", "auto"] as const;
const chosenKey = "mantine-color-scheme-value";
const schemeNames = { light: "Light", dark: "Dark", auto: "Like the system" };

/** Appearance: light, dark, or as the system has it. */
function addSchemeButton(): void {
  const button = document.querySelector<HTMLButtonElement>(".scheme");
  if (button === null) return;
  const chosen = () => schemes.find((each) => each === localStorage.getItem(chosenKey)) ?? "auto";
  const show = () => {
    button.title = `Appearance: ${schemeNames[chosen()]}`;
    button.ariaLabel = button.title;
  };
  button.addEventListener("click", () => {
    localStorage.setItem(chosenKey, schemes[(schemes.indexOf(chosen()) + 1) % schemes.length] ?? "auto");
    document.dispatchEvent(new Event("scheme"));
    show();
  });
  show();
  button.hidden = false;
}

/** The list of pages, which small screens hide. */
function addMenu(): void {
  const button = document.querySelector<HTMLButtonElement>(".menu");
  const sidebar = document.querySelector<HTMLElement>(".sidebar");
  if (button === null || sidebar === null) return;
  const show = (isOpen: boolean) => {
    button.ariaExpanded = String(isOpen);
    document.documentElement.classList.toggle("menu-open", isOpen);
    if (isOpen) sidebar.querySelector<HTMLElement>("[aria-current], a")?.focus();
  };
  button.addEventListener("click", () => {
    show(button.ariaExpanded !== "true");
  });
  document.addEventListener("keydown", ({ key }) => {
    if (key !== "Escape" || button.ariaExpanded !== "true") return;
    show(false);
    button.focus();
  });
  button.hidden = false;
  const current = sidebar.querySelector<HTMLElement>("[aria-current]");
  if (current !== null) sidebar.scrollTop = current.offsetTop - sidebar.clientHeight / 2;
}

function addSearch(): void {
  const button = document.querySelector<HTMLButtonElement>(".search");
  if (button === null) return;
  const open = async () => {
    const { openSearch } = await import("./search.ts");
    openSearch();
  };
  button.addEventListener("click", () => void open());
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target instanceof Element && event.target.closest("input, textarea, select") !== null;
    const isShortcut = event.key === "/" ? !isTyping : event.key === "k" && (event.ctrlKey || event.metaKey);
    if (!isShortcut) return;
    event.preventDefault();
    void open();
  });
  button.hidden = false;
}

function addCopyButtons(): void {
  for (const block of document.querySelectorAll<HTMLElement>(".code")) {
    const button = Object.assign(document.createElement("button"), {
      type: "button",
      className: "copy",
      textContent: "Copy",
    });
    button.addEventListener("click", () => {
      void navigator.clipboard.writeText(block.querySelector("code")?.textContent ?? "").then(() => {
        button.textContent = "Copied";
      });
    });
    block.append(button);
  }
}

/** Keys scroll only an element with the focus. */
function focusWideParts(): void {
  for (const part of document.querySelectorAll<HTMLElement>(".table, .code pre"))
    if (part.scrollWidth > part.clientWidth) part.tabIndex = 0;
}

/** Operations have names with a dot: `browsers.create`. */
function addTryButtons(): void {
  if (!location.href.startsWith(new URL("api/", siteUrl).href)) return;
  for (const heading of document.querySelectorAll<HTMLElement>("h2[id*='.']")) {
    const button = Object.assign(document.createElement("button"), {
      type: "button",
      className: "try",
      textContent: "Try it",
    });
    button.ariaLabel = `Try it: ${heading.id}`;
    button.addEventListener("click", () => {
      void import("./try-it.ts").then(({ tryOperation }) => tryOperation(heading.id, button));
    });
    // The next element has the method and the path.
    heading.nextElementSibling?.append(button);
  }
}

/** The console links to the reference with the project that it shows. */
function keepProject(): void {
  const project = new URLSearchParams(location.search).get("project");
  if (project !== null) sessionStorage.setItem(projectKey, project);
}

keepProject();
addSchemeButton();
addMenu();
addSearch();
addCopyButtons();
addTryButtons();
focusWideParts();
window.addEventListener("resize", focusWideParts);
