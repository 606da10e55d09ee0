import type { LiveViewMessage, ShownDialog } from "../messages.ts";
import { connect } from "./connection.ts";
import { followHandoff } from "./handoff.ts";
import { followKeyboard } from "./keyboard.ts";
import { followPointer } from "./pointer.ts";
import { Zoom } from "./zoom.ts";

function element<T extends HTMLElement>(id: string, type: new () => T): T {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`The page has no ${id}.`);
  return found;
}

const canvas = element("screen", HTMLCanvasElement);
const context = canvas.getContext("2d", { alpha: false });
const stage = element("stage", HTMLElement);
const zoom = new Zoom(canvas, stage);
const keys = element("keys", HTMLTextAreaElement);
const address = element("address", HTMLInputElement);
const tabList = element("tab-list", HTMLUListElement);
const notice = element("notice", HTMLElement);
const pageDialog = element("page-dialog", HTMLDialogElement);
const pageDialogInput = element("page-dialog-input", HTMLInputElement);
const clipboard = element("clipboard", HTMLDialogElement);
const clipboardText = element("clipboard-text", HTMLTextAreaElement);
const retry = element("retry", HTMLButtonElement);
const { body } = document;
const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);
const query = new URLSearchParams(location.search);
const noticeMs = 5_000;
/** Time until the clipboard can be read after a copy in the session. */
const copyMs = 60;

let size = { width: 1280, height: 720 };
let hasPicture = false;
let dialogIsAnswered = true;
let noticeTimer: ReturnType<typeof setTimeout> | undefined;
/** Whether a copy shortcut requested the clipboard, so that the text goes to this system's clipboard. */
let copies = false;

if (query.get("kiosk") === "true") body.classList.add("kiosk");

/** Returns a name that lasts across reconnects, and across page loads where the page has storage. */
function viewerName(): string {
  const made = Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
  try {
    const kept = sessionStorage.getItem("viewer");
    if (kept !== null) return kept;
    sessionStorage.setItem("viewer", made);
  } catch {
    // Storage is blocked, for example in a frame of another site.
  }
  return made;
}

function cover(title: string, text = "", mayRetry = false): void {
  body.classList.remove("showing", "live");
  element("cover-title", HTMLElement).textContent = title;
  element("cover-text", HTMLElement).textContent = text;
  element("live-text", HTMLElement).textContent = "not connected";
  retry.hidden = !mayRetry;
}

function uncover(): void {
  body.classList.add("showing", "live");
  element("live-text", HTMLElement).textContent = "live";
}

function say(text: string): void {
  notice.textContent = text;
  notice.hidden = false;
  clearTimeout(noticeTimer);
  noticeTimer = setTimeout(() => {
    notice.hidden = true;
  }, noticeMs);
}

/** Scales to whole pixels, so that an unscaled picture is sharp and its coordinates are exact. */
function fit(): void {
  const { clientWidth, clientHeight } = stage;
  const largest = document.fullscreenElement === null ? 1 : Number.POSITIVE_INFINITY;
  const scale = Math.min(clientWidth / size.width, clientHeight / size.height, largest);
  const width = Math.max(1, Math.round(size.width * scale));
  const height = Math.max(1, Math.round(size.height * scale));
  canvas.style.width = `${String(width)}px`;
  canvas.style.height = `${String(height)}px`;
  canvas.style.left = `${String(Math.floor((clientWidth - width) / 2))}px`;
  canvas.style.top = `${String(Math.floor((clientHeight - height) / 2))}px`;
  body.classList.toggle("framed", width < clientWidth || height < clientHeight);
  zoom.refit();
}

async function draw(jpeg: ArrayBuffer): Promise<void> {
  const picture = await createImageBitmap(new Blob([jpeg], { type: "image/jpeg" }));
  // A hidden page draws nothing, so no more pictures are sent to it.
  await new Promise(requestAnimationFrame);
  // The connection ended meanwhile.
  if (body.classList.contains("over")) return;
  if (canvas.width !== picture.width || canvas.height !== picture.height) {
    canvas.width = picture.width;
    canvas.height = picture.height;
  }
  context?.drawImage(picture, 0, 0);
  picture.close();
  if (!hasPicture) uncover();
  hasPicture = true;
}

function showTabs({ tabs, shown }: Extract<LiveViewMessage, { type: "tabs" }>): void {
  const focused = document.activeElement?.getAttribute("data-tab");
  const readOnly = body.classList.contains("read-only");
  tabList.replaceChildren(
    ...tabs.map(({ id, title, url }) => {
      const item = document.createElement("li");
      item.classList.toggle("shown", id === shown);
      const name = document.createElement("button");
      name.type = "button";
      name.className = "name";
      name.dataset.tab = id;
      name.textContent = title === "" ? (url === "" ? "New page" : url) : title;
      name.title = `${title}\n${url}`.trim();
      if (id === shown) name.setAttribute("aria-current", "page");
      name.disabled = readOnly;
      name.onclick = () => {
        connection.send({ type: "tab", action: "show", id });
      };
      const close = document.createElement("button");
      close.type = "button";
      close.className = "close";
      close.dataset.touch = "";
      close.setAttribute("aria-label", `Close ${name.textContent}`);
      close.textContent = "×";
      close.onclick = () => {
        connection.send({ type: "tab", action: "close", id });
      };
      item.append(name, close);
      return item;
    }),
  );
  if (focused != null) tabList.querySelector<HTMLElement>(`[data-tab="${CSS.escape(focused)}"]`)?.focus();
  tabList.querySelector(".shown")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  const present = tabs.find(({ id }) => id === shown);
  document.title = present === undefined || present.title === "" ? "Live view" : `${present.title} · Live view`;
  canvas.setAttribute("aria-label", `The session's page: ${present?.title ?? "none"}`);
  if (document.activeElement !== address) address.value = present?.url ?? "";
}

function showDialog(dialog: ShownDialog | null): void {
  dialogIsAnswered = dialog === null;
  if (dialog === null) {
    if (pageDialog.open) pageDialog.close();
    return;
  }
  element("page-dialog-title", HTMLElement).textContent =
    dialog.kind === "beforeunload" ? "Leave this page?" : "The page says";
  element("page-dialog-text", HTMLElement).textContent =
    dialog.kind === "beforeunload" ? "Changes that you made may not be saved." : dialog.message;
  element("page-dialog-cancel", HTMLButtonElement).hidden = dialog.kind === "alert";
  pageDialogInput.hidden = dialog.kind !== "prompt";
  pageDialogInput.value = dialog.default_text;
  if (!pageDialog.open) pageDialog.showModal();
}

function answerDialog(accept: boolean): void {
  if (dialogIsAnswered) return;
  dialogIsAnswered = true;
  connection.send({
    type: "dialog",
    accept,
    ...(accept && !pageDialogInput.hidden && { text: pageDialogInput.value }),
  });
  keys.focus({ preventScroll: true });
}

async function takeClipboard(text: string): Promise<void> {
  clipboardText.value = text;
  if (!copies) return;
  copies = false;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    say("Copied in the session. Open Clipboard to copy the text from there.");
  }
}

function onMessage(message: LiveViewMessage): void {
  switch (message.type) {
    case "hello":
      body.classList.toggle("read-only", message.read_only);
      element("read-only", HTMLElement).hidden = !message.read_only;
      address.readOnly = message.read_only;
      handoff.refresh();
      element("cover-title", HTMLElement).textContent = "Waiting for the browser…";
      break;
    case "viewers":
      element("viewers", HTMLElement).hidden = message.count < 2;
      element("viewers", HTMLElement).textContent = `${String(message.count)} watching`;
      break;
    case "state":
      if (message.state === "restarting") {
        hasPicture = false;
        cover("The browser is restarting…", "It crashed, and its pages were lost.");
      } else if (message.state === "no_page") {
        hasPicture = false;
        cover("No page is open", body.classList.contains("read-only") ? "" : "Open one with the plus sign.");
      } else if (!hasPicture) element("cover-title", HTMLElement).textContent = "Waiting for the first picture…";
      break;
    case "tabs":
      showTabs(message);
      break;
    case "size":
      size = { width: Math.max(1, message.width), height: Math.max(1, message.height) };
      fit();
      break;
    case "dialog":
      showDialog(message.dialog);
      break;
    case "clipboard":
      void takeClipboard(message.text);
      break;
    case "notice":
      say(message.message);
      break;
  }
}

const baseAddress = location.origin + location.pathname.replace(/(?<!\/)\/+$/, "");
const handoff = followHandoff(baseAddress, say);
const connection = connect(baseAddress, viewerName(), {
  message: onMessage,
  picture: draw,
  waiting(retryInMs) {
    hasPicture = false;
    // The service sends their number again.
    element("viewers", HTMLElement).hidden = true;
    if (retryInMs === undefined) cover("Connecting…");
    else
      cover("The connection was lost", `Trying again in ${String(Math.max(1, Math.round(retryInMs / 1000)))} s.`, true);
  },
  over(title, text, recordingUrl) {
    hasPicture = false;
    element("viewers", HTMLElement).hidden = true;
    const recording = element("recording", HTMLAnchorElement);
    recording.hidden = recordingUrl === undefined;
    if (recordingUrl !== undefined) recording.href = recordingUrl;
    tabList.replaceChildren();
    if (pageDialog.open) pageDialog.close();
    if (clipboard.open) clipboard.close();
    body.classList.add("over");
    element("handoff", HTMLElement).hidden = true;
    cover(handoff.endTitle() ?? title, text);
  },
});

followPointer(
  {
    canvas,
    size: () => size,
    send: connection.send,
    pressed(x, y) {
      // Where an input method shows its choices.
      const rect = stage.getBoundingClientRect();
      keys.style.left = `${String(Math.round(x - rect.left))}px`;
      keys.style.top = `${String(Math.round(y - rect.top))}px`;
      if (!body.classList.contains("read-only")) keys.focus({ preventScroll: true });
    },
    zoom,
  },
  isMac,
);
followKeyboard(
  {
    field: keys,
    send: connection.send,
    copied() {
      copies = true;
      setTimeout(() => {
        connection.send({ type: "read_clipboard" });
      }, copyMs);
    },
    leave() {
      address.focus();
    },
  },
  isMac,
);

element("location", HTMLFormElement).onsubmit = (event) => {
  event.preventDefault();
  if (address.value.trim() === "") return;
  connection.send({ type: "navigate", url: address.value });
  keys.focus({ preventScroll: true });
};
address.onfocus = () => {
  address.select();
};
for (const action of ["back", "forward", "reload"] as const) {
  element(action, HTMLButtonElement).onclick = () => {
    connection.send({ type: "history", action });
  };
}
element("open-tab", HTMLButtonElement).onclick = () => {
  connection.send({ type: "open_tab" });
  address.focus();
};
element("fullscreen", HTMLButtonElement).onclick = () => {
  stage.requestFullscreen().catch(() => {
    say("The browser does not allow fullscreen here.");
  });
};
element("clipboard-open", HTMLButtonElement).onclick = () => {
  connection.send({ type: "read_clipboard" });
  clipboard.showModal();
};
element("clipboard-read", HTMLButtonElement).onclick = () => {
  connection.send({ type: "read_clipboard" });
};
element("clipboard-write", HTMLButtonElement).onclick = () => {
  connection.send({ type: "write_clipboard", text: clipboardText.value });
};
element("page-dialog-cancel", HTMLButtonElement).onclick = () => {
  answerDialog(false);
  pageDialog.close();
};
pageDialog.querySelector("form")?.addEventListener("submit", () => {
  answerDialog(true);
});
pageDialog.oncancel = () => {
  answerDialog(false);
};
retry.onclick = connection.retry;
new ResizeObserver(fit).observe(stage);
fit();
