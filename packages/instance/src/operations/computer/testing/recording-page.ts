import type { WebSocket } from "ws";
import { cdpClient, type RunningInstance } from "../../../testing/run-instance.ts";

export interface Recorded {
  readonly type: string;
  readonly x: number;
  readonly y: number;
  readonly button: number;
  readonly buttons: number;
  readonly detail: number;
  readonly key: string;
  readonly code: string;
  readonly keyCode: number;
  readonly location: number;
  readonly repeat: boolean;
  readonly deltaX: number;
  readonly deltaY: number;
  /** `c`, `s`, `a`, `m` for Ctrl, Shift, Alt, Meta. */
  readonly modifiers: string;
  readonly trusted: boolean;
  readonly atMs: number;
}

const html = `<!doctype html><meta charset=utf-8><style>body{margin:0;height:3000px;width:3000px}textarea{position:absolute;left:10px;top:10px;width:300px;height:100px}</style>
<textarea id=field></textarea><script>
const events = [];
for (const type of ["mousemove","mousedown","mouseup","click","dblclick","auxclick","contextmenu","wheel","keydown","keypress","keyup","input","dragstart","drop"]) {
  addEventListener(type, (event) => {
    const { clientX: x, clientY: y, button, buttons, detail, key, code, keyCode, location, repeat, deltaX, deltaY, isTrusted: trusted, timeStamp: atMs } = event;
    const modifiers = [event.ctrlKey && "c", event.shiftKey && "s", event.altKey && "a", event.metaKey && "m"].filter(Boolean).join("");
    events.push({ type, x, y, button, buttons, detail, key, code, keyCode, location, repeat, deltaX, deltaY, modifiers, trusted, atMs });
  }, true);
}
</script>`;

export interface TestPage {
  readonly targetId: string;
  evaluate(expression: string): Promise<unknown>;
  send(method: string, params?: object): Promise<Record<string, unknown>>;
  events(...types: string[]): Promise<Recorded[]>;
}

export interface TestBrowser {
  readonly socket: WebSocket;
  send(method: string, params?: object): Promise<Record<string, unknown>>;
  attach(targetId: string): Promise<TestPage>;
  recordingPage(): Promise<TestPage>;
  pageIds(): Promise<string[]>;
}

export async function connectTestBrowser(instance: RunningInstance): Promise<TestBrowser> {
  const socket = await instance.connect();
  const client = cdpClient(socket);
  const resultOf = async (
    method: string,
    params: object = {},
    sessionId?: string,
  ): Promise<Record<string, unknown>> => {
    const { result, error } = await client.send(method, params, sessionId);
    if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return result as Record<string, unknown>;
  };
  const attach = async (targetId: string): Promise<TestPage> => {
    const { sessionId } = (await resultOf("Target.attachToTarget", { targetId, flatten: true })) as {
      sessionId: string;
    };
    const evaluate = async (expression: string): Promise<unknown> => {
      const answer = (await resultOf(
        "Runtime.evaluate",
        { expression, returnByValue: true, awaitPromise: true, userGesture: true },
        sessionId,
      )) as {
        result: { value?: unknown };
        exceptionDetails?: unknown;
      };
      if (answer.exceptionDetails !== undefined) throw new Error(JSON.stringify(answer.exceptionDetails));
      return answer.result.value;
    };
    return {
      targetId,
      evaluate,
      send: (method, params) => resultOf(method, params, sessionId),
      async events(...types) {
        const recorded = JSON.parse((await evaluate("JSON.stringify(events.splice(0))")) as string) as Recorded[];
        return types.length === 0 ? recorded : recorded.filter(({ type }) => types.includes(type));
      },
    };
  };
  return {
    socket,
    send: (method, params) => resultOf(method, params),
    attach,
    async recordingPage() {
      const { targetId } = (await resultOf("Target.createTarget", { url: "about:blank" })) as { targetId: string };
      const page = await attach(targetId);
      // Written by the page itself, so that it is complete when the call returns.
      await page.evaluate(`document.open(), document.write(${JSON.stringify(html)}), document.close(), field.focus()`);
      return page;
    },
    async pageIds() {
      const { targetInfos } = (await resultOf("Target.getTargets")) as {
        targetInfos: { targetId: string; type: string }[];
      };
      return targetInfos.filter(({ type }) => type === "page").map(({ targetId }) => targetId);
    },
  };
}
