import { Shoal } from "@shoal/client";
import { type RunningServer, serve } from "@shoal/server";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";

const logins = [{ name: "shop", site: "https://shop.example", user: "ada", password: "correct horse" }];
const book = createServer((request, response) => {
  const isKnown = request.headers.authorization === "Bearer book-token" && request.url === "/logins.json";
  response.writeHead(isKnown ? 200 : 401).end(JSON.stringify({ logins }));
});
const folder = mkdtempSync(join(tmpdir(), "shoal-book-"));
let service: RunningServer;

beforeAll(async () => {
  book.listen(0, "127.0.0.1");
  await once(book, "listening");
  service = await serve({
    flags: {
      data_dir: join(folder, "data"),
      port: 0,
      placement: "process",
      warm: 0,
      log_level: "silent",
      credential_provider_modules: [fileURLToPath(import.meta.resolve("@shoal/example-extension/credential-provider"))],
      credential_provider_hosts: ["127.0.0.1"],
    },
    env: {},
  });
});
afterAll(async () => {
  await service.close();
  book.closeAllConnections();
  book.close();
  rmSync(folder, { recursive: true, force: true });
});

it("adds a kind of credential provider to a running service", async () => {
  const shoal = new Shoal({ apiKey: service.apiKey ?? "", baseUrl: service.baseUrl });
  const settings = { address: `http://127.0.0.1:${String((book.address() as AddressInfo).port)}` };
  const { id } = await shoal.credentialProviders.create({
    provider_type: "login_book",
    name: "book",
    token: "book-token",
    settings,
  });
  expect(await shoal.credentialProviders.test(id)).toEqual({ success: true, vaults: [{ id: "book", name: "Book" }] });
  const { items } = await shoal.credentialProviders.listItems(id);
  expect(items).toMatchObject([{ path: "Book/shop", urls: ["https://shop.example"] }]);
  expect(JSON.stringify(items)).not.toContain("correct horse");
  await shoal.credentialProviders.update(id, { token: "wrong" });
  expect(await shoal.credentialProviders.test(id)).toMatchObject({
    success: false,
    error: expect.stringContaining("refused the token (401)") as string,
  });
});
