import type { LiveViewMessage, ViewerMessage } from "../messages.ts";

export interface ConnectionEvents {
  message(message: LiveViewMessage): void;
  /** Draws a picture; resolves when it is visible. */
  picture(jpeg: ArrayBuffer): Promise<void>;
  /** The connection is lost. @param retryInMs - absent while connecting. */
  waiting(retryInMs: number | undefined): void;
  /** @param recordingUrl - of the ended session, relative to the page. */
  over(title: string, text: string, recordingUrl?: string): void;
}

const firstPauseMs = 300;
const longestPauseMs = 10_000;
const endings: Readonly<Record<string, string>> = {
  deleted: "It was deleted.",
  timeout: "It was idle for its timeout.",
  disconnected: "Its last client left.",
  browser_crashed: "Its browser crashed twice.",
  instance_lost: "Its process was lost.",
  server_stopped: "The service was stopped.",
};

export function connect(address: string, viewer: string, events: ConnectionEvents): Connection {
  const connection = new Connection(address, viewer, events);
  connection.open();
  addEventListener("online", connection.retry);
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") connection.retry();
  });
  return connection;
}

class Connection {
  readonly #address: string;
  readonly #options: URLSearchParams;
  readonly #events: ConnectionEvents;
  #socket: WebSocket | undefined;
  #failures = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isOver = false;

  constructor(address: string, viewer: string, events: ConnectionEvents) {
    const isReadOnly = new URLSearchParams(location.search).get("readOnly") === "true";
    this.#address = address;
    this.#options = new URLSearchParams({ viewer, ...(isReadOnly && { readOnly: "true" }) });
    this.#events = events;
  }

  readonly send = (message: ViewerMessage): void => {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  };

  /** Reconnects immediately instead of after the pause. */
  readonly retry = (): void => {
    if (!this.#isOver && this.#socket === undefined && this.#timer !== undefined) this.open();
  };

  open(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#events.waiting(undefined);
    const socket = new WebSocket(`${this.#address.replace(/^http/, "ws")}/socket?${this.#options.toString()}`);
    this.#socket = socket;
    socket.binaryType = "arraybuffer";
    this.#receive(socket);
    socket.onclose = () => {
      if (this.#socket !== socket) return;
      this.#socket = undefined;
      void this.#reopen();
    };
  }

  #receive(socket: WebSocket): void {
    let drawing: Promise<unknown> = Promise.resolve();
    socket.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => {
      this.#failures = 0;
      if (typeof data === "string") {
        // From the service.
        this.#events.message(JSON.parse(data) as LiveViewMessage);
        return;
      }
      // In order; skips pictures that cannot be decoded.
      drawing = drawing
        .then(() => this.#events.picture(data))
        .catch(() => undefined)
        .then(() => {
          if (socket.readyState === WebSocket.OPEN) socket.send('{"type":"drawn"}');
        });
    };
  }

  async #reopen(): Promise<void> {
    this.#events.waiting(undefined);
    const ending = await readEnding(this.#address);
    if (ending !== undefined) {
      this.#isOver = true;
      this.#events.over(ending.title, ending.text, ending.recordingUrl);
      return;
    }
    const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** this.#failures++) * (0.75 + Math.random() / 2);
    this.#events.waiting(pauseMs);
    this.#timer = setTimeout(() => {
      this.open();
    }, pauseMs);
  }
}

/** Returns why the session ended; `undefined` when the page may reconnect. */
async function readEnding(
  address: string,
): Promise<{ title: string; text: string; recordingUrl?: string | undefined } | undefined> {
  try {
    const answer = await fetch(`${address}/state`, { cache: "no-store", referrerPolicy: "no-referrer" });
    const said = (await answer.json()) as {
      state?: string;
      ended_reason?: string;
      message?: string;
      hint?: string;
      recording_url?: string;
    };
    if (answer.status === 401) {
      const { hint, message = "" } = said;
      // A message without a hint is written for people, about a link that has served its purpose. A hint is for programs.
      if (hint === undefined) return { title: "This link is not needed any more", text: message };
      const reason = message.replace(hint, "").trim();
      return { title: "This link is invalid or has expired", text: `${reason} Ask for a new one.`.trim() };
    }
    if (said.state === "ended")
      return {
        title: "The session has ended",
        text: endings[said.ended_reason ?? ""] ?? "",
        recordingUrl: said.recording_url,
      };
  } catch {
    // The service is unreachable, perhaps only briefly.
  }
  return undefined;
}
