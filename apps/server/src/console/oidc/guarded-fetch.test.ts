import { createOutboundRule } from "@shoal/placement";
import { createServer, type Server } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import { createGuardedFetch } from "./guarded-fetch.ts";
import { OidcClient } from "./oidc-client.ts";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

async function serve(answer: (path: string) => { status?: number; headers?: Record<string, string>; body: string }) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    const { status = 200, headers = {}, body } = answer(request.url ?? "");
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(body);
  });
  servers.push(server);
  await once(server.listen(0, "127.0.0.1"), "listening");
  return { asked, host: `127.0.0.1:${String((server.address() as AddressInfo).port)}` };
}

it("reaches the issuer, and no private address that the provider names or redirects to", async () => {
  const internal = await serve(() => ({ body: "{}" }));
  const provider = await serve((path) =>
    path.startsWith("/.well-known")
      ? {
          body: JSON.stringify({
            issuer: `http://${provider.host}`,
            authorization_endpoint: `http://${provider.host}/auth`,
            token_endpoint: `http://${internal.host}/token`,
            jwks_uri: `http://${internal.host}/jwks`,
          }),
        }
      : { status: 302, headers: { location: `http://${internal.host}/` }, body: "" },
  );
  const fetch = createGuardedFetch(createOutboundRule({ allowPrivateHosts: [provider.host] }));
  const settings = { oidc_issuer: `http://${provider.host}`, oidc_client_id: "shoal", oidc_client_secret: "secret" };
  const client = new OidcClient({ ...settings, oidc_label: "", oidc_roles: [], oidc_scopes: ["openid"] }, fetch);
  await expect(client.refresh("token", "ada")).rejects.toThrow(/something went wrong|may not be reached/);
  await expect(fetch(`http://${internal.host}/jwks`, { method: "GET" })).rejects.toThrow(
    "127.0.0.1 is the loopback network. The operator can allow private hosts with allow_private_hosts.",
  );
  expect((await fetch(`http://${provider.host}/moved`, { method: "GET" })).status).toBe(302);
  expect([provider.asked.length > 0, internal.asked]).toEqual([true, []]);
});

it("reads at most a mebibyte of an answer", async () => {
  const { host } = await serve(() => ({ body: "x".repeat(2 ** 20 + 1) }));
  const fetch = createGuardedFetch(createOutboundRule({ allowPrivateHosts: ["127.0.0.1"] }));
  await expect(fetch(`http://${host}/`, { method: "GET" })).rejects.toThrow("more than 1048576 bytes");
});
