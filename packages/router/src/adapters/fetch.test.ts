import { createFetchRouter, type FetchRouter } from "@shoal/router/fetch";
import { ServiceError } from "@shoal/router";
import { eventuallyPasses } from "@shoal/testkit";
import { Readable } from "node:stream";
import { expect, it } from "vitest";
import { settled } from "../testing/conditions.ts";
import { fixture } from "../testing/fixture.ts";
import { answerOf, send } from "../testing/servers.ts";

const origin = "http://shoal.test";

function serve(faults: unknown[] = []): FetchRouter<string> {
  return createFetchRouter<string>({
    context: (request) => request.headers.get("x-user") ?? "nobody",
    onError: (error) => faults.push(error),
  });
}

it("answers JSON, empty bodies, errors and unknown routes like a server", async () => {
  const router = serve();
  router.mount(fixture.create, ({ body, context, headers }) => ({ body, context, host: headers.host }));
  router.mount(fixture.remove, () => undefined);
  router.mount(fixture.get, ({ params }) => {
    throw new ServiceError(409, "conflict", `Thing ${params.id} is taken.`);
  });
  router.mount(fixture.list, ({ query }) => ({ items: [query.name], hasMore: true, nextOffset: 20 }));

  const created = await answerOf(
    router.fetch(
      new Request(`${origin}/things`, send("POST", { name: "a" }, { "x-user": "me", "x-request-id": "r-1" })),
    ),
  );
  expect(created).toMatchObject({
    status: 201,
    body: { body: { name: "a", mode: "fast" }, context: "me", host: "shoal.test" },
  });
  expect([created.headers.get("x-request-id"), created.headers.get("content-length")]).toEqual([
    "r-1",
    String(JSON.stringify(created.body).length),
  ]);
  expect(await answerOf(router.fetch(new Request(`${origin}/things`, send("POST", { name: 7 }))))).toMatchObject({
    status: 400,
    body: { code: "bad_request" },
  });
  const removed = await router.fetch(new Request(`${origin}/things/a`, { method: "DELETE" }));
  expect([removed.status, removed.body]).toEqual([204, null]);
  const refused = await answerOf(router.fetch(new Request(`${origin}/things/a%2Fb`)));
  expect(refused).toMatchObject({ status: 409, body: { code: "conflict", message: "Thing a/b is taken." } });
  expect(refused.headers.get("x-should-retry")).toBe("false");
  expect((await answerOf(router.fetch(new Request(`${origin}/things?name=x`)))).headers.get("x-has-more")).toBe("true");
  expect(await answerOf(router.fetch(new Request(`${origin}/nothing`)))).toMatchObject({ status: 404 });
  expect(await router.fetch(new Request(`${origin}/things`, { method: "PUT" }))).toMatchObject({ status: 405 });
  const head = await router.fetch(new Request(`${origin}/things`, { method: "HEAD" }));
  expect([head.status, head.body, head.headers.get("content-type")]).toEqual([
    200,
    null,
    "application/json; charset=utf-8",
  ]);
});

it("streams bodies in both directions at the pace of the reader", async () => {
  let given = 0;
  const chunk = Buffer.alloc(64 * 1024, "x");
  const source = new Readable({
    read() {
      given += chunk.length;
      this.push(chunk);
    },
  });
  const router = serve();
  router.mount(fixture.read, () => ({ stream: source }));
  router.mount(fixture.write, async ({ body }) => {
    let bytes = 0;
    for await (const part of body) bytes += (part as Buffer).length;
    return { bytes };
  });
  router.mount(fixture.upload, async ({ body }) => {
    const names: string[] = [];
    for await (const part of body)
      names.push(
        part.kind === "file" ? `${part.name}=${String((await part.stream.toArray()).join("").length)}` : part.name,
      );
    return names;
  });

  const response = await router.fetch(new Request(`${origin}/things/x/content`));
  const reader = response.body?.getReader();
  expect((await reader?.read())?.value).toEqual(new Uint8Array(chunk));
  await settled(() => given);
  expect(given).toBeLessThan(1024 * 1024);
  await reader?.cancel();
  await eventuallyPasses(() => {
    expect(source.destroyed).toBe(true);
  });

  const sent = new ReadableStream({
    start(controller) {
      controller.enqueue(new Uint8Array(3));
      controller.enqueue(new Uint8Array(4));
      controller.close();
    },
  });
  // The DOM types lack `duplex`, which Node requires for a stream as body.
  const init: RequestInit & { duplex: "half" } = { method: "PUT", body: sent, duplex: "half" };
  expect(await answerOf(router.fetch(new Request(`${origin}/things/x/content`, init)))).toMatchObject({
    status: 200,
    body: { bytes: 7 },
  });
  const form = new FormData();
  form.append("file", new Blob(["hello"]), "a.txt");
  form.append("more", "text");
  expect(
    await answerOf(router.fetch(new Request(`${origin}/things/x/upload`, { method: "POST", body: form }))),
  ).toMatchObject({
    status: 200,
    body: ["file=5", "more"],
  });
});

it("completes a stream of events, and errors one whose source fails after its first events", async () => {
  const faults: unknown[] = [];
  const router = serve(faults);
  router.mount(fixture.follow, async function* ({ params }) {
    yield { id: "1", data: "a" };
    yield { id: "2", data: "b" };
    if (params.id === "broken") throw new Error("gone");
  });
  const text = 'id: 1\ndata: "a"\n\nid: 2\ndata: "b"\n\n';
  expect(await (await router.fetch(new Request(`${origin}/things/whole/events`))).text()).toBe(text);

  const reader = (await router.fetch(new Request(`${origin}/things/broken/events`))).body
    ?.pipeThrough(new TextDecoderStream())
    .getReader();
  let seen = "";
  const failure = await (async () => {
    for (;;) {
      const step = await reader?.read();
      if (step?.done !== false) return undefined;
      seen += step.value;
    }
  })().catch((error: unknown) => error);
  expect([seen, failure, faults]).toEqual([text, expect.any(TypeError), [new Error("gone")]]);
});

it("answers before the request body is complete, and cancels the body", async () => {
  const router = serve();
  router.mount(fixture.write, () => {
    throw new ServiceError(409, "conflict", "No.");
  });
  router.mount(fixture.upload, () => {
    throw new ServiceError(409, "conflict", "No.");
  });
  let cancelled = false;
  const endless = new ReadableStream({
    pull(controller) {
      controller.enqueue(new Uint8Array(1024));
    },
    cancel() {
      cancelled = true;
    },
  });
  const init: RequestInit & { duplex: "half" } = { method: "PUT", body: endless, duplex: "half" };
  expect((await router.fetch(new Request(`${origin}/things/x/content`, init))).status).toBe(409);
  await eventuallyPasses(() => {
    expect(cancelled).toBe(true);
  });
  const form = new FormData();
  for (let part = 0; part < 20; part++) form.append("file", new Blob(["x".repeat(100_000)]), "a.txt");
  expect((await router.fetch(new Request(`${origin}/things/x/upload`, { method: "POST", body: form }))).status).toBe(
    409,
  );
});

it("aborts the handler when the request is aborted, before and during the answer", async () => {
  const reasons: unknown[] = [];
  const router = serve();
  router.mount(
    fixture.get,
    ({ signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () => {
          reasons.push(signal.reason);
          reject(new Error("aborted"));
        });
      }),
  );
  let returned = false;
  router.mount(fixture.follow, async function* () {
    try {
      for (let id = 1; ; id++) {
        yield { id: String(id), data: id };
        await new Promise((resolve) => setImmediate(resolve));
      }
    } finally {
      returned = true;
    }
  });
  const first = new AbortController();
  const waiting = router.fetch(new Request(`${origin}/things/a`, { signal: first.signal }));
  setImmediate(() => {
    first.abort();
  });
  await expect(waiting).rejects.toMatchObject({ name: "AbortError" });
  await eventuallyPasses(() => {
    expect(reasons).toHaveLength(1);
  });

  const second = new AbortController();
  const response = await router.fetch(new Request(`${origin}/things/a/events`, { signal: second.signal }));
  const reader = response.body?.getReader();
  await reader?.read();
  second.abort();
  await expect(
    (async () => {
      while ((await reader?.read())?.done === false);
    })(),
  ).rejects.toMatchObject({ name: "AbortError" });
  await eventuallyPasses(() => {
    expect(returned).toBe(true);
  });
  await expect(
    router.fetch(new Request(`${origin}/things/a`, { signal: AbortSignal.abort(new Error("before")) })),
  ).rejects.toThrow("before");
});
