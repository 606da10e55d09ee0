import { streamBrowserLogs } from "@shoal/contract";
import { HttpRouter } from "@shoal/router/http";
import { once } from "node:events";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { logHandlers } from "./handlers.ts";
import { createSupervisorLogs } from "./supervisor-logs.ts";

it("has room for further streams after streams whose file became unreadable", async () => {
  const directory = await realpath(await mkdtemp(join(tmpdir(), "shoal-logs-")));
  const handlers = logHandlers({ directory, home: "/" }, createSupervisorLogs());
  const router = new HttpRouter({ stripPrefix: "/browsers/{id}", context: () => undefined, onError: () => undefined });
  router.mount(streamBrowserLogs, handlers.streamBrowserLogs);
  const server = createServer((request, response) => {
    router.handle(request, response);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(async () => {
    handlers.close();
    server.closeAllConnections();
    server.close();
    await rm(directory, { recursive: true });
  });
  const folder = join(directory, "folder");
  const makeLog = async (): Promise<void> => {
    await mkdir(folder);
    await writeFile(join(folder, "a.log"), "line\n");
  };
  const follow = (): Promise<Response> => {
    const { port } = server.address() as AddressInfo;
    return fetch(`http://127.0.0.1:${String(port)}/logs/stream?source=path&path=/folder/a.log&follow=true`);
  };

  await makeLog();
  const streams = await Promise.all(Array.from({ length: 100 }, follow));
  expect(new Set(streams.map(({ status }) => status))).toEqual(new Set([200]));
  expect((await follow()).status).toBe(429);
  await rm(folder, { recursive: true });
  await writeFile(folder, "a file in place of the folder");
  await Promise.all(streams.map((stream) => stream.text().catch(() => "")));
  await rm(folder);
  await makeLog();
  expect((await follow()).status).toBe(200);
});
