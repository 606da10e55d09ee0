import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { checkUpgrade } from "../cdp/handshake.ts";
import type { BrowserSupervisor } from "../chromium/supervisor.ts";
import type { Refusal } from "../session/replies.ts";
import type { CapturedEvent } from "../telemetry/recorder.ts";
import { type LiveScreen, showScreen } from "./live-screen.ts";
import { type LiveViewMessage, parseViewerMessage } from "./messages.ts";
import { acceptViewer, type ViewerSocket } from "./viewer-socket.ts";

/** Viewers that may be connected at once. */
export const maxViewers = 32;
/** Pictures that are on their way to a viewer: more would only make what it sees older. */
const maxFramesInFlight = 2;

/** Shows the session to people. */
export interface LiveView {
  /**
   * Takes a `GET /live-view?mode=control|view&viewer=…` with an `Upgrade` header. The service has checked who asks: what is said there holds.
   *
   * @returns why not, before anything was answered.
   */
  upgrade(request: IncomingMessage, socket: Socket, head: Buffer): Refusal | undefined;
  /** Ends every viewer with a close code and a reason of at most 123 bytes. */
  closeAll(code: number, reason: string): void;
  /** How many watch. */
  readonly viewers: number;
}

export interface LiveViewOptions {
  readonly browser: Pick<BrowserSupervisor, "onBrowser">;
  /** Tells telemetry, where it is on. */
  record(event: CapturedEvent): void;
  /** Called when a viewer comes; the function that it returns is called when that one has gone. */
  onViewer(): () => void;
}

interface Viewer {
  readonly socket: ViewerSocket;
  readonly mayTouch: boolean;
  /** Pictures that it has not drawn yet. */
  inFlight: number;
  /** Whether it has missed the latest picture. */
  behind: boolean;
}

export function createLiveView(options: LiveViewOptions): LiveView {
  const viewers = new Set<Viewer>();
  /** What somebody who comes now has to know, the latest of each kind. */
  const known = new Map<LiveViewMessage["type"], string>();
  let latest: Buffer | undefined;
  let screen: LiveScreen | undefined;
  let stopFollowing: (() => void) | undefined;

  function tell(message: LiveViewMessage): void {
    const text = JSON.stringify(message);
    if (message.type !== "notice") known.set(message.type, text);
    for (const { socket } of viewers) socket.sendText(text);
  }

  function sendFrame(viewer: Viewer): boolean {
    if (latest === undefined) return false;
    viewer.behind = viewer.inFlight >= maxFramesInFlight;
    if (viewer.behind) return false;
    viewer.inFlight++;
    viewer.socket.sendBinary(latest);
    return true;
  }

  function begin(): void {
    stopFollowing = options.browser.onBrowser((cdp) => {
      screen?.end();
      const made = showScreen(cdp, {
        frame(jpeg) {
          latest = jpeg;
          let taken = false;
          for (const viewer of viewers) taken = sendFrame(viewer) || taken;
          return taken;
        },
        tell,
      });
      screen = made;
      made.setTouched(isTouched());
      void cdp.closed.then(() => {
        if (screen !== made) return;
        screen = undefined;
        tell({ type: "dialog", dialog: null });
        tell({ type: "state", state: "restarting" });
      });
    });
  }

  function endScreen(): void {
    stopFollowing?.();
    stopFollowing = undefined;
    screen?.end();
    screen = undefined;
    latest = undefined;
    known.clear();
  }

  function isTouched(): boolean {
    return [...viewers].some(({ mayTouch }) => mayTouch);
  }

  function onMessage(viewer: Viewer, text: string): void {
    const message = parseViewerMessage(text);
    if (message === undefined) {
      viewer.socket.close(1008, "that is no message of a live view");
      return;
    }
    if (message.type === "drawn") {
      if (viewer.inFlight > 0) viewer.inFlight--;
      if (viewer.behind) sendFrame(viewer);
      screen?.resume();
      return;
    }
    if (!viewer.mayTouch) {
      viewer.socket.sendText(JSON.stringify({ type: "notice", message: "This view is for watching only." } satisfies LiveViewMessage));
      return;
    }
    void screen?.act(message).then((answer) => {
      if (answer !== undefined) viewer.socket.sendText(JSON.stringify(answer));
    });
  }

  return {
    get viewers() {
      return viewers.size;
    },
    upgrade(request, socket, head) {
      const problem = checkUpgrade(request);
      if (problem !== undefined) return { status: 400, code: "bad_request", message: `This is no WebSocket handshake: ${problem}.` };
      if (viewers.size >= maxViewers)
        return {
          status: 429,
          code: "too_many_requests",
          message: `${String(maxViewers)} people watch this session already; the next one can come when one leaves.`,
        };
      const query = new URLSearchParams((request.url ?? "").split("?", 2)[1]);
      const mayTouch = query.get("mode") === "control";
      const name = query.get("viewer") ?? "";
      const cameMs = performance.now();
      const leave = options.onViewer();
      const viewer: Viewer = {
        mayTouch,
        inFlight: 0,
        behind: true,
        socket: acceptViewer(request, socket, head, {
          message(text) {
            if (viewers.has(viewer)) onMessage(viewer, text);
          },
          closed() {
            viewers.delete(viewer);
            leave();
            options.record({
              type: "live_view_disconnect",
              category: "connection",
              source: { kind: "kernel_api" },
              data: { session_id: name, duration_ms: Math.round(performance.now() - cameMs) },
            });
            if (viewers.size === 0) {
              endScreen();
              return;
            }
            if (mayTouch) screen?.release();
            screen?.setTouched(isTouched());
            // The one that has gone may be whom the next picture waited for.
            screen?.resume();
            tell({ type: "viewers", count: viewers.size });
          },
        }),
      };
      viewers.add(viewer);
      options.record({ type: "live_view_connect", category: "connection", source: { kind: "kernel_api" }, data: { session_id: name } });
      viewer.socket.sendText(JSON.stringify({ type: "hello", read_only: !mayTouch } satisfies LiveViewMessage));
      for (const text of known.values()) viewer.socket.sendText(text);
      if (latest !== undefined) sendFrame(viewer);
      if (viewers.size === 1) begin();
      else screen?.setTouched(isTouched());
      tell({ type: "viewers", count: viewers.size });
      return undefined;
    },
    closeAll(code, reason) {
      for (const { socket } of viewers) socket.close(code, reason);
    },
  };
}
