import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { checkUpgrade } from "../../http/upgrade.ts";
import type { BrowserSupervisor } from "../../browser/chromium/supervisor.ts";
import { type Refusal, splitUrl } from "../../http/replies.ts";
import type { CapturedEvent } from "../../operations/telemetry/recorder.ts";
import { LiveScreen } from "./live-screen.ts";
import type { PersonActs } from "../../operations/pages/person/person-acts.ts";
import { type LiveViewMessage, parseViewerMessage } from "./messages.ts";
import { NotedInput } from "./noted-input.ts";
import { acceptViewer, type ViewerSocket } from "./viewer-socket.ts";

export const maxViewers = 32;
/** Maximum number of pictures in transit to a viewer: more would only increase the delay. */
const maxFramesInFlight = 2;

export interface LiveViewOptions {
  readonly browser: Pick<BrowserSupervisor, "onBrowser">;
  record(event: CapturedEvent): void;
  /** Replaces secrets that were typed in pages, for example in their titles. */
  withoutSecrets<T>(message: T): T;
  /** Remembers what viewers do. */
  readonly personActs: () => Promise<PersonActs>;
  /** Called when a viewer connects. Call the returned function when the viewer has disconnected. */
  onViewer(): () => void;
}

interface Viewer {
  readonly socket: ViewerSocket;
  readonly mayTouch: boolean;
  /** Number of sent pictures that are not drawn yet. */
  inFlight: number;
  behind: boolean;
}

export class LiveView {
  readonly #options: LiveViewOptions;
  readonly #noted: NotedInput;
  readonly #viewers = new Set<Viewer>();
  /** The latest message of each kind, for new viewers. */
  readonly #known = new Map<LiveViewMessage["type"], string>();
  #latest: Buffer | undefined;
  #screen: LiveScreen | undefined;
  #stopFollowing: (() => void) | undefined;

  constructor(options: LiveViewOptions) {
    this.#options = options;
    this.#noted = new NotedInput(options.personActs);
  }

  #tell(message: LiveViewMessage): void {
    const text = JSON.stringify(this.#options.withoutSecrets(message));
    if (message.type !== "notice") this.#known.set(message.type, text);
    for (const { socket } of this.#viewers) socket.sendText(text);
  }

  #sendFrame(viewer: Viewer): boolean {
    if (this.#latest === undefined) return false;
    viewer.behind = viewer.inFlight >= maxFramesInFlight;
    if (viewer.behind) return false;
    viewer.inFlight++;
    viewer.socket.sendBinary(this.#latest);
    return true;
  }

  #begin(): void {
    this.#stopFollowing = this.#options.browser.onBrowser((cdp) => {
      this.#screen?.end();
      const made = new LiveScreen(cdp, {
        frame: (jpeg) => {
          this.#latest = jpeg;
          let taken = false;
          for (const viewer of this.#viewers) taken = this.#sendFrame(viewer) || taken;
          return taken;
        },
        tell: (message) => {
          this.#tell(message);
        },
      });
      this.#screen = made;
      made.setTouched(this.#isTouched());
      void cdp.closed.then(() => {
        if (this.#screen !== made) return;
        this.#screen = undefined;
        this.#tell({ type: "dialog", dialog: null });
        this.#tell({ type: "state", state: "restarting" });
      });
    });
  }

  #endScreen(): void {
    this.#stopFollowing?.();
    this.#stopFollowing = undefined;
    this.#screen?.end();
    this.#screen = undefined;
    this.#latest = undefined;
    this.#known.clear();
  }

  #isTouched(): boolean {
    return [...this.#viewers].some(({ mayTouch }) => mayTouch);
  }

  #onMessage(viewer: Viewer, text: string): void {
    const message = parseViewerMessage(text);
    if (message === undefined) {
      viewer.socket.close(1008, "invalid live view message");
      return;
    }
    if (message.type === "drawn") {
      if (viewer.inFlight > 0) viewer.inFlight--;
      if (viewer.behind) this.#sendFrame(viewer);
      this.#screen?.resume();
      return;
    }
    if (!viewer.mayTouch) {
      viewer.socket.sendText(
        JSON.stringify({ type: "notice", message: "This view is read-only." } satisfies LiveViewMessage),
      );
      return;
    }
    const screen = this.#screen;
    if (screen === undefined) return;
    const isPresent = () => this.#viewers.has(viewer);
    const answer = (said: LiveViewMessage) => {
      viewer.socket.sendText(JSON.stringify(this.#options.withoutSecrets(said)));
    };
    this.#noted.pass(message, screen.shownId, () => screen.act(message, { isPresent, answer }));
  }

  get viewers(): number {
    return this.#viewers.size;
  }

  /** Handles an upgrade with `?mode=control|view&viewer=…`, which the service has authorized. Returns a refusal. */
  upgrade(request: IncomingMessage, socket: Socket, head: Buffer): Refusal | undefined {
    const problem = checkUpgrade(request);
    if (problem !== undefined)
      return { status: 400, code: "bad_request", message: `Invalid WebSocket handshake: ${problem}.` };
    if (this.#viewers.size >= maxViewers) {
      const hint = "Try again when one leaves.";
      const message = `${String(maxViewers)} people are already watching this session. ${hint}`;
      return { status: 429, code: "too_many_requests", message, limit: maxViewers, hint };
    }
    const query = new URLSearchParams(splitUrl(request.url ?? "").query);
    const mayTouch = query.get("mode") === "control";
    const name = query.get("viewer") ?? "";
    const label = query.get("label");
    const cameMs = performance.now();
    const leave = this.#options.onViewer();
    const viewer: Viewer = {
      mayTouch,
      inFlight: 0,
      behind: true,
      socket: acceptViewer(request, socket, head, {
        message: (text) => {
          if (this.#viewers.has(viewer)) this.#onMessage(viewer, text);
        },
        closed: () => {
          // Before its keys and buttons are released.
          if (mayTouch) this.#noted.flush();
          this.#viewers.delete(viewer);
          if (mayTouch) this.#noted.settle();
          leave();
          this.#options.record({
            type: "live_view_disconnect",
            category: "connection",
            source: { kind: "kernel_api" },
            data: { session_id: name, duration_ms: Math.round(performance.now() - cameMs) },
          });
          if (this.#viewers.size === 0) {
            this.#endScreen();
            return;
          }
          if (mayTouch) this.#screen?.release();
          this.#screen?.setTouched(this.#isTouched());
          // The next picture may have waited for this viewer.
          this.#screen?.resume();
          this.#tell({ type: "viewers", count: this.#viewers.size });
        },
      }),
    };
    this.#viewers.add(viewer);
    this.#options.record({
      type: "live_view_connect",
      category: "connection",
      source: { kind: "kernel_api" },
      data: { session_id: name, ...(label !== null && { label }) },
    });
    viewer.socket.sendText(JSON.stringify({ type: "hello", read_only: !mayTouch } satisfies LiveViewMessage));
    for (const text of this.#known.values()) viewer.socket.sendText(text);
    if (this.#latest !== undefined) this.#sendFrame(viewer);
    if (this.#viewers.size === 1) this.#begin();
    else this.#screen?.setTouched(this.#isTouched());
    this.#tell({ type: "viewers", count: this.#viewers.size });
    return undefined;
  }

  /** @param reason - at most 123 bytes. */
  closeAll(code: number, reason: string): void {
    for (const { socket } of this.#viewers) socket.close(code, reason);
  }
}
