import type { Protocol } from "devtools-protocol/types/protocol.d.ts";
import { CdpError, type CdpConnection } from "../../../browser/cdp/cdp-connection.ts";
import { openPageSession, type PageSession } from "../../computer/page-session.ts";
import { FollowedPage, type FrameTarget } from "../follow/followed-page.ts";

export type ToolResponse = Protocol.WebMCP.ToolRespondedEvent;

/** One page during one operation on its tools. Reports the ends of calls. */
export class ToolWatch extends FollowedPage {
  readonly #preparing: Promise<unknown>[] = [];
  readonly #responses = new Map<string, ToolResponse>();
  #responded = Promise.withResolvers<undefined>();
  #isSupported = true;

  private constructor(session: PageSession) {
    super(session);
    this.on("WebMCP.toolResponded", (response) => {
      this.#responses.set(response.invocationId, response);
      const { resolve } = this.#responded;
      this.#responded = Promise.withResolvers();
      resolve(undefined);
    });
  }

  /** Resolves when the page and its frames are ready, or do not answer. */
  static override async open(cdp: CdpConnection, targetId: string): Promise<ToolWatch> {
    const watch = new ToolWatch(await openPageSession(cdp, targetId));
    try {
      await watch.begin();
      // A frame may contain further frames.
      for (let known = 0; known < watch.#preparing.length;) {
        known = watch.#preparing.length;
        await watch.send(Promise.all(watch.#preparing));
      }
      return watch;
    } catch (error) {
      await watch.close();
      throw error;
    }
  }

  /** Whether the browser has WebMCP. */
  get isSupported(): boolean {
    return this.#isSupported;
  }

  /** The reference of a tool of the page. */
  async refOf(facts: readonly unknown[]): Promise<string> {
    const text = new TextEncoder().encode(JSON.stringify([this.session.targetId, ...facts]));
    return `wmcp_${Buffer.from(await crypto.subtle.digest("SHA-256", text)).toString("base64url")}`;
  }

  /** Resolves after the tasks that a frame has now. */
  async afterTasks(frameId: string, target: FrameTarget): Promise<void> {
    const contextId = await this.worldOf(frameId, target);
    if (contextId === undefined) return;
    const params = { expression: "new Promise((resolve) => setTimeout(resolve))", contextId, awaitPromise: true };
    await this.send(this.cdp.send("Runtime.evaluate", params, target.sessionId));
  }

  /** A headless shell dismisses a dialog when the last session that has seen it ends. */
  async closeAfterDialog(): Promise<void> {
    const { dialog, end } = this.session;
    if (dialog === undefined) await this.close();
    else void Promise.race([dialog.closed, end]).then(() => this.close());
  }

  /** Resolves with the answer of an invocation, which may have arrived before. */
  async response(invocationId: string): Promise<ToolResponse> {
    for (;;) {
      const found = this.#responses.get(invocationId);
      if (found !== undefined) return found;
      this.#responses.clear();
      await this.#responded.promise;
    }
  }

  protected override prepare({ sessionId }: FrameTarget): readonly Promise<unknown>[] {
    const enabling = this.cdp.send("WebMCP.enable", undefined, sessionId).catch((error: unknown) => {
      if (!(error instanceof CdpError)) throw error;
      if (error.message.includes("wasn't found")) this.#isSupported = false;
    });
    this.#preparing.push(enabling);
    return [enabling];
  }
}
