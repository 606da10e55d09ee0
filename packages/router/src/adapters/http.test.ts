import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { stopWatch, watchEvents } from "@shoal/contract";
import { HttpRouter } from "@shoal/router/http";
import { expect, it, onTestFinished } from "vitest";
import { answerOf } from "../testing/servers.ts";

async function listen(router: HttpRouter<undefined>): Promise<string> {
  const server = createServer(router.handle);
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it("serves paths without the prefix, with the values of its placeholders from prefixParams", async () => {
  const stopped: unknown[] = [];
  const router = new HttpRouter({
    stripPrefix: "/browsers/{id}",
    prefixParams: () => ({ id: "session-1" }),
    context: () => undefined,
  });
  router.mount(stopWatch, ({ params }) => {
    stopped.push(params);
  });
  const url = await listen(router);
  expect((await fetch(`${url}/fs/watch/w1`, { method: "DELETE" })).status).toBe(204);
  expect(stopped).toEqual([{ id: "session-1", watch_id: "w1" }]);
  expect(await answerOf(fetch(`${url}/browsers/b/fs/watch/w1`, { method: "DELETE" }))).toMatchObject({ status: 404 });
  expect(await answerOf(fetch(`${url}/fs/watch/${"x".repeat(256)}`, { method: "DELETE" }))).toMatchObject({
    status: 400,
    body: { message: "params.watch_id: expected at most 255 characters" },
  });
});

it("passes an empty string for a placeholder without a value", async () => {
  const router = new HttpRouter({ stripPrefix: "/browsers/{id}", context: () => undefined });
  router.mount(watchEvents, async function* ({ params }) {
    yield { id: params.id, data: { type: "CREATE", path: params.watch_id } };
  });
  expect(await (await fetch(`${await listen(router)}/fs/watch/w1/events`)).text()).toBe(
    'id: \ndata: {"type":"CREATE","path":"w1"}\n\n',
  );
});

it("refuses an endpoint outside its prefix, and a route that is taken", () => {
  const router = new HttpRouter({ stripPrefix: "/browsers/{id}/other", context: () => undefined });
  expect(() => {
    router.mount(stopWatch, () => undefined);
  }).toThrow(
    "browsers.fs.watch.stop: its path /browsers/{id}/fs/watch/{watch_id} does not begin with /browsers/{id}/other.",
  );
  const other = new HttpRouter({ context: () => undefined });
  other.mount(stopWatch, () => undefined);
  expect(() => {
    other.mount(stopWatch, () => undefined);
  }).toThrow("already declared");
});

it("does not load Fastify, and loads the multipart parser only for the first upload", () => {
  const program = `
    const { registerHooks } = await import("node:module");
    const loaded = [];
    registerHooks({ load(url, context, next) { loaded.push(url); return next(url, context); } });
    await import("@shoal/router/http");
    console.log(JSON.stringify(loaded.map((url) => /node_modules\\/(?:\\.pnpm\\/[^/]+\\/node_modules\\/)?((?:@[^/]+\\/)?[^/]+)/.exec(url)?.[1]).filter(Boolean)));
  `;
  const cwd = fileURLToPath(new URL("..", import.meta.url));
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ["--conditions=@shoal/source", "--input-type=module", "-e", program],
    {
      cwd,
      encoding: "utf8",
    },
  );
  expect(stderr).toBe("");
  const packages = new Set(JSON.parse(stdout) as string[]);
  expect([...packages]).toContain("find-my-way");
  expect([...packages]).not.toContain("fastify");
  expect([...packages]).not.toContain("@fastify/busboy");
});
