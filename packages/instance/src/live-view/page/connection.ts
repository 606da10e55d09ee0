import type { LiveViewMessage, ViewerMessage } from "../messages.ts";

/** What the connection tells the page. */
export interface ConnectionEvents {
  message(message: LiveViewMessage): void;
  /** A picture; resolves when it can be seen. */
  picture(jpeg: ArrayBuffer): Promise<void>;
  /** There is no connection at the moment. @param retryInMs - absent while one is being made. */
  waiting(retryInMs: number | undefined): void;
  /** There will be none any more. */
  over(title: string, text: string): void;
}

export interface Connection {
  readonly send: (message: ViewerMessage) => void;
  /** Makes a connection at once, rather than after the pause. */
  readonly retry: () => void;
}

const firstPauseMs = 300;
const longestPauseMs = 10_000;
const endings: Readonly<Record<string, string>> = {
  deleted: "It was deleted.",
  timeout: "Nobody used it for its timeout.",
  browser_crashed: "Its browser crashed twice.",
  instance_lost: "The program that ran it was lost.",
  server_stopped: "The service was stopped.",
};

/** Connects to the session, again and again until it is over. */
export function connect(address: string, viewer: string, events: ConnectionEvents): Connection {
  const query = new URLSearchParams(location.search);
  const options = new URLSearchParams({ viewer, ...(query.get("readOnly") === "true" && { readOnly: "true" }) });
  let socket: WebSocket | undefined;
  let failures = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;

  function open(): void {
    clearTimeout(timer);
    timer = undefined;
    events.waiting(undefined);
    const made = new WebSocket(`${address.replace(/^http/, "ws")}/socket?${options.toString()}`);
    socket = made;
    made.binaryType = "arraybuffer";
    let drawing: Promise<unknown> = Promise.resolve();
    made.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => {
      failures = 0;
      if (typeof data === "string") {
        // The service's own.
        events.message(JSON.parse(data) as LiveViewMessage);
        return;
      }
      // In order; one that cannot be read is left out.
      drawing = drawing
        .then(() => events.picture(data))
        .catch(() => undefined)
        .then(() => {
          if (made.readyState === WebSocket.OPEN) made.send('{"type":"drawn"}');
        });
    };
    made.onclose = () => {
      if (socket !== made) return;
      socket = undefined;
      void again();
    };
  }

  async function again(): Promise<void> {
    events.waiting(undefined);
    const ending = await askState();
    if (ending !== undefined) {
      isOver = true;
      events.over(ending.title, ending.text);
      return;
    }
    const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** failures++) * (0.75 + Math.random() / 2);
    events.waiting(pauseMs);
    timer = setTimeout(open, pauseMs);
  }

  /** @returns why it is over; `undefined` when it may go on. */
  async function askState(): Promise<{ title: string; text: string } | undefined> {
    try {
      const answer = await fetch(`${address}/state`, { cache: "no-store", referrerPolicy: "no-referrer" });
      const said = (await answer.json()) as { state?: string; ended_reason?: string; message?: string };
      if (answer.status === 401) return { title: "This address does not hold any more", text: said.message ?? "" };
      if (said.state === "ended") return { title: "The session has ended", text: endings[said.ended_reason ?? ""] ?? "" };
    } catch {
      // The service cannot be reached: it may be again in a moment.
    }
    return undefined;
  }

  function retry(): void {
    if (!isOver && socket === undefined && timer !== undefined) open();
  }

  addEventListener("online", retry);
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") retry();
  });
  open();
  return {
    send(message) {
      if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
    },
    retry,
  };
}
