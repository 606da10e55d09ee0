import pTimeout from "p-timeout";
import { CdpError } from "../../../browser/cdp/cdp-connection.ts";
import type { ListedTool } from "./tool-list.ts";
import type { ToolResponse, ToolWatch } from "./tool-watch.ts";

export interface StartedTool {
  readonly invocationId: Promise<string>;
  readonly responded: Promise<ToolResponse>;
  /** Waits for an answer while one can arrive. Cancels the call of the tool if the wait ends without one. */
  outcome<T>(
    answer: Promise<T>,
    limits: { readonly seconds: number; readonly signal: AbortSignal },
  ): ReturnType<typeof ToolWatch.prototype.session.outcome<T>>;
}

/**
 * @param call - `missing`: the error when the browser does not know the tool.
 * @throws the reason of an aborted `signal`: the time to find the tool may have been long.
 */
export function startTool(
  watch: ToolWatch,
  { frame, shown, target }: ListedTool,
  call: { readonly input: Record<string, unknown>; readonly missing: () => Error; readonly signal: AbortSignal },
): StartedTool {
  call.signal.throwIfAborted();
  const { cdp, session } = watch;
  const params = { frameId: frame.id, toolName: shown.name, input: call.input };
  const sent = cdp.send("WebMCP.invokeTool", params, target.sessionId);
  const invocationId = sent.then(
    (started) => started.invocationId,
    (error: unknown) => {
      throw error instanceof CdpError ? call.missing() : error;
    },
  );
  // A tool that begins with a dialog answers after it.
  const responded = invocationId.then((id) => watch.response(id));
  responded.catch(() => undefined);
  const cancel = (): void => {
    sent
      .then((started) => cdp.send("WebMCP.cancelInvocation", { invocationId: started.invocationId }, target.sessionId))
      .catch(() => undefined);
  };
  return {
    invocationId,
    responded,
    async outcome(answer, { seconds, signal }) {
      const waiting = session.outcome(answer, seconds * 1000);
      const outcome = await pTimeout(waiting, { milliseconds: Infinity, signal }).catch((error: unknown) => {
        cancel();
        throw error;
      });
      if (outcome.kind === "silent") cancel();
      return outcome;
    },
  };
}
