import { build } from "esbuild";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { createContext, runInContext } from "node:vm";
import { expect, it } from "vitest";
import type { EdgeReport } from "./testing/edge-script.ts";
import { profile, reply, serve } from "./testing/misbehaving-server.ts";

/** The globals of edge runtimes (WinterTC's minimum common API) that the packages may use. */
const webGlobals = [
  "AbortController",
  "AbortSignal",
  "Blob",
  "ByteLengthQueuingStrategy",
  "CountQueuingStrategy",
  "DOMException",
  "Event",
  "EventTarget",
  "File",
  "FormData",
  "Headers",
  "ReadableStream",
  "Request",
  "Response",
  "TextDecoder",
  "TextDecoderStream",
  "TextEncoder",
  "TransformStream",
  "URL",
  "URLSearchParams",
  "WritableStream",
  "atob",
  "btoa",
  "clearTimeout",
  "console",
  "crypto",
  "fetch",
  "performance",
  "queueMicrotask",
  "setTimeout",
  "structuredClone",
] as const;

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return text;
}

it("runs with only the web's globals, without those of Node", async () => {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, "testing/edge-script.ts")],
    bundle: true,
    format: "iife",
    platform: "browser",
    conditions: ["@shoal/source"],
    write: false,
  });
  await using server = await serve((request, response) => {
    const { pathname } = new URL(request.url ?? "", "http://x");
    void textOf(request).then((body) => {
      if (request.method !== "GET")
        reply(response, body.includes("hello") || body.includes('filename="a.txt"') ? 201 : 400);
      else if (pathname === "/profiles") reply(response, 200, [profile]);
      else if (pathname === "/profiles/missing")
        reply(response, 404, { code: "not_found", message: "No such profile." });
      else if (pathname.startsWith("/profiles/")) reply(response, 200, profile);
      else if (pathname.endsWith("/events"))
        response
          .writeHead(200, { "content-type": "text/event-stream" })
          .end('id: 1\ndata: {"type":"CREATE","path":"/a"}\n\n');
      else response.writeHead(200, { "content-type": "application/octet-stream" }).end("bytes");
    });
  });
  const { promise, resolve } = Promise.withResolvers<EdgeReport>();
  // The context has its own versions of these, but the globals above return this realm's.
  const { ArrayBuffer, Uint8Array, Error, TypeError } = globalThis;
  const globals = Object.fromEntries(webGlobals.map((name) => [name, Reflect.get(globalThis, name) as unknown]));
  runInContext(
    outputFiles[0]?.text ?? "",
    createContext({
      ...globals,
      ArrayBuffer,
      Uint8Array,
      Error,
      TypeError,
      edge: { baseUrl: server.baseUrl, report: resolve },
    }),
  );
  expect({ ...(await promise) }).toEqual({
    process: "undefined",
    buffer: "undefined",
    call: "p1",
    page: 1,
    "upload of a stream": undefined,
    multipart: undefined,
    download: "bytes",
    events: ["/a"],
    refused: "not_found",
  });
});
