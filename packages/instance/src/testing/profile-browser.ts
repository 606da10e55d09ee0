import { request } from "node:http";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { expect, vi } from "vitest";
import { readStateOf } from "../profile-state/archive.ts";
import type { SavedState } from "../profile-state/saved-state.ts";
import { cdpClient, type RunningInstance } from "./run-instance.ts";

/** Calls the control channel with an archive, or for one. */
export function exchange(
  instance: RunningInstance,
  method: string,
  path: string,
  body?: Buffer,
): Promise<{ readonly status: number; readonly body: Buffer }> {
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath: instance.config.listen_path, method, path: `/_instance/${path}` }, (response) => {
      buffer(response).then((content) => {
        resolve({ status: response.statusCode ?? 0, body: content });
      }, reject);
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

/** Saves, and reads what was saved. */
export async function savedState(instance: RunningInstance, ...how: readonly [method: string, path: string]): Promise<SavedState> {
  const { status, body } = await exchange(instance, ...how);
  if (status !== 200) throw new Error(`${String(status)} ${body.toString()}`);
  const state = await readStateOf(Readable.from([body]));
  if (state === undefined) throw new Error("The archive has no state.");
  return state;
}

/** A page of the session's browser. */
export interface Page {
  evaluate(expression: string): Promise<unknown>;
  goto(url: string): Promise<void>;
  close(): void;
}

export async function openPage(instance: RunningInstance): Promise<Page> {
  const socket = await instance.connect();
  const cdp = cdpClient(socket);
  const resultOf = async (method: string, params: object, session?: string): Promise<Record<string, unknown>> => {
    const { result, error } = await cdp.send(method, params, session);
    if (error !== undefined) throw new Error(JSON.stringify(error));
    return result as Record<string, unknown>;
  };
  const { targetId } = await resultOf("Target.createTarget", { url: "about:blank" });
  const session = String((await resultOf("Target.attachToTarget", { targetId, flatten: true })).sessionId);
  const evaluate = async (expression: string): Promise<unknown> => {
    const { result, exceptionDetails } = await resultOf("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true }, session);
    if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails));
    return (result as { value?: unknown }).value;
  };
  return {
    evaluate,
    async goto(url) {
      await resultOf("Page.navigate", { url }, session);
      await vi.waitFor(
        async () => {
          expect(await evaluate("document.readyState + location.href")).toBe(`complete${url}`);
        },
        { timeout: 20_000 },
      );
    },
    close: () => {
      socket.close();
    },
  };
}
