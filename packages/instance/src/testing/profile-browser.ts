import { eventuallyPasses } from "@shoal/testkit";
import { type OutgoingHttpHeaders, request } from "node:http";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { expect } from "vitest";
import { readStateOf } from "../browser/profile-state/archive.ts";
import type { SavedState } from "../browser/profile-state/saved-state.ts";
import type { AssignInstance } from "../index.ts";
import { cdpClient, type RunningInstance } from "./run-instance.ts";

export function exchange(
  instance: RunningInstance,
  method: string,
  path: string,
  { body, headers = {} }: { readonly body?: Buffer; readonly headers?: OutgoingHttpHeaders } = {},
): Promise<{ readonly status: number; readonly body: Buffer }> {
  return new Promise((resolve, reject) => {
    const sent = request(
      { socketPath: instance.config.listen_path, method, path: `/_instance/${path}`, headers },
      (response) => {
        buffer(response).then((content) => {
          resolve({ status: response.statusCode ?? 0, body: content });
        }, reject);
      },
    );
    sent.on("error", reject);
    sent.end(body);
  });
}

export async function assignFiles(
  instance: RunningInstance,
  {
    assign = {},
    extensions = [],
    profile,
  }: {
    readonly assign?: Partial<AssignInstance>;
    readonly extensions?: readonly { readonly name: string; readonly archive: Buffer }[];
    readonly profile?: Buffer;
  },
): Promise<{ readonly status: number; readonly body: Buffer }> {
  const form = new FormData();
  form.append("assign", JSON.stringify({ session_id: "session", timeout_seconds: 60, ...assign }));
  for (const [index, { name, archive }] of extensions.entries()) {
    form.append(`extensions[${String(index)}][name]`, name);
    form.append(`extensions[${String(index)}][zip_file]`, new Blob([new Uint8Array(archive)]), "extension.zip");
  }
  if (profile !== undefined) form.append("profile", new Blob([new Uint8Array(profile)]), "profile.tar.zst");
  const encoded = new Response(form);
  const headers = { "content-type": encoded.headers.get("content-type") ?? "" };
  const body = Buffer.from(await encoded.arrayBuffer());
  return exchange(instance, "POST", "assign/files", { body, headers });
}

export async function savedState(
  instance: RunningInstance,
  ...how: readonly [method: string, path: string]
): Promise<SavedState> {
  const { status, body } = await exchange(instance, ...how);
  if (status !== 200) throw new Error(`${String(status)} ${body.toString()}`);
  const state = await readStateOf(Readable.from([body]));
  if (state === undefined) throw new Error("The archive has no state.");
  return state;
}

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
    const { result, exceptionDetails } = await resultOf(
      "Runtime.evaluate",
      { expression, awaitPromise: true, returnByValue: true },
      session,
    );
    if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails));
    return (result as { value?: unknown }).value;
  };
  return {
    evaluate,
    async goto(url) {
      await resultOf("Page.navigate", { url }, session);
      await eventuallyPasses(async () => {
        expect(await evaluate("document.readyState + location.href")).toBe(`complete${url}`);
      });
    },
    close: () => {
      socket.close();
    },
  };
}
