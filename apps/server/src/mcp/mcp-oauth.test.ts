import {
  Client,
  type OAuthClientInformationMixed,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type OAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { text as readText } from "node:stream/consumers";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type IdentityProvider, startIdentityProvider, TestBrowser, testClient } from "../testing/identity-provider.ts";
import { startTestServer, type TestServer } from "../testing/test-server.ts";

const redirectUrl = "http://127.0.0.1:33418/callback";

/** `fetch` does not send a chosen `Host`. */
async function rawGet(url: string, headers: Record<string, string>): Promise<{ status: number; text: string }> {
  const [answer] = (await once(get(url, { headers }), "response")) as [IncomingMessage];
  return { status: answer.statusCode ?? 0, text: await readText(answer) };
}

let provider: IdentityProvider;
let server: TestServer;
beforeAll(async () => {
  provider = await startIdentityProvider(() => `${server.baseUrl}/console/oidc/callback`, {
    features: {
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_context, resource) => ({
          scope: "openid",
          audience: resource,
          accessTokenFormat: "jwt",
          accessTokenTTL: 300,
        }),
      },
    },
    extraTokenClaims(_context, token) {
      const { accountId = "" } = token as { accountId?: string };
      const { email = "", groups = [] } = provider.persons.get(accountId) ?? {};
      return { email, groups: [...groups] };
    },
  });
  server = await startTestServer({
    oidc_issuer: provider.issuer,
    oidc_client_id: testClient.id,
    oidc_client_secret: testClient.secret,
    oidc_roles: ["groups=staff:*:viewer", "groups=operators:*:operator"],
  });
});
afterAll(async () => {
  await server.close();
  await provider.close();
});

/** The client of a person: registers itself, and opens the provider's pages in a browser. */
class PersonalClient implements OAuthClientProvider {
  readonly redirectUrl = redirectUrl;
  readonly clientMetadata = {
    client_name: "Test",
    redirect_uris: [redirectUrl],
    grant_types: ["authorization_code"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  };
  opened: URL | undefined;
  token: OAuthTokens | undefined;
  #information: OAuthClientInformationMixed | undefined;
  #discovered: OAuthDiscoveryState | undefined;
  #verifier = "";

  clientInformation() {
    return this.#information;
  }
  saveClientInformation(information: OAuthClientInformationMixed) {
    this.#information = information;
  }
  discoveryState() {
    return this.#discovered;
  }
  saveDiscoveryState(state: OAuthDiscoveryState) {
    this.#discovered = state;
  }
  tokens() {
    return this.token;
  }
  saveTokens(tokens: OAuthTokens) {
    this.token = tokens;
  }
  redirectToAuthorization(url: URL) {
    this.opened = url;
  }
  saveCodeVerifier(verifier: string) {
    this.#verifier = verifier;
  }
  codeVerifier() {
    return this.#verifier;
  }
}

let count = 0;

async function connect(groups: readonly string[], login = `agent-${String((count += 1))}`) {
  provider.persons.set(login, { name: login, email: `${login}@example.com`, groups });
  const authProvider = new PersonalClient();
  const url = new URL(`${server.baseUrl}/mcp`);
  const first = new StreamableHTTPClientTransport(url, { authProvider });
  await expect(new Client({ name: "test", version: "1" }).connect(first)).rejects.toThrow(UnauthorizedError);
  const opened = authProvider.opened?.href ?? "";
  const callback = await new TestBrowser(login).open(opened, (next) => next.startsWith(redirectUrl));
  await first.finishAuth(new URL(callback.url).searchParams);
  return {
    login,
    authorization: `Bearer ${authProvider.token?.access_token ?? ""}`,
    open: async (): Promise<Client> => {
      const client = new Client({ name: "test", version: "1" });
      await client.connect(new StreamableHTTPClientTransport(url, { authProvider }));
      return client;
    },
  };
}

const textOf = (result: { content?: unknown }) => JSON.stringify(result.content);

it("names the provider in its metadata", async () => {
  const metadata = await fetch(`${server.baseUrl}/.well-known/oauth-protected-resource/mcp`);
  expect(await metadata.json()).toEqual({
    resource: `${server.baseUrl}/mcp`,
    resource_name: "Shoal",
    authorization_servers: [provider.issuer],
    scopes_supported: ["openid", "profile", "email"],
    bearer_methods_supported: ["header"],
  });
});

it("connects a client that only knows the address, with the rights of the person", async () => {
  const { login, open } = await connect(["operators"]);
  const client = await open();
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain("navigate");
  const written = await client.callTool({
    name: "navigate",
    arguments: { url: "data:text/html,<h1>Signed in</h1>" },
  });
  expect(textOf(written)).toContain("Signed in");
  await client.close();
  const entry = () =>
    server.database.query
      .selectFrom("audit_logs")
      .select(["auth_strategy", "operation"])
      .where("email", "=", `${login}@example.com`)
      .where("operation", "=", "browsers.create")
      .execute();
  await expect.poll(entry).toEqual([{ auth_strategy: "oauth", operation: "browsers.create" }]);
});

it("keeps tools within the role of the person", async () => {
  const { open } = await connect(["staff"]);
  const client = await open();
  expect((await client.listTools()).tools.map(({ name }) => name)).not.toContain("navigate");
  const refused = client.callTool({ name: "navigate", arguments: { url: "about:blank" } });
  await expect(refused).rejects.toThrow("Tool navigate not found");
  await client.close();
});

const post = (authorization: string, message: object, headers: Record<string, string> = {}) =>
  fetch(`${server.baseUrl}/mcp`, {
    method: "POST",
    headers: {
      authorization,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, ...message }),
  });
const initialize = (authorization: string) =>
  post(authorization, {
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
  });

it("keeps the roles of two tokens of one person apart", async () => {
  const operator = await connect(["operators"]);
  const viewer = await connect(["staff"], operator.login);
  const clients = { operator: await operator.open(), viewer: await viewer.open() };
  const tools = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name);
  expect(await tools(clients.operator)).toContain("navigate");
  expect(await tools(clients.viewer)).not.toContain("navigate");
  const again = { operator: await operator.open(), viewer: await viewer.open() };
  expect(await tools(again.operator)).toContain("navigate");
  expect(await tools(again.viewer)).not.toContain("navigate");
  for (const client of [clients.operator, again.operator])
    expect(textOf(await client.callTool({ name: "navigate", arguments: { url: "about:blank" } }))).toContain("about:");
  const session = (await initialize(operator.authorization)).headers.get("mcp-session-id") ?? "";
  const statusFor = async (authorization: string) =>
    (await post(authorization, { method: "tools/list" }, { "mcp-session-id": session })).status;
  expect(await statusFor(operator.authorization)).toBe(200);
  expect(await statusFor(viewer.authorization)).toBe(404);
  for (const client of [...Object.values(clients), ...Object.values(again)]) await client.close();
});

it("refuses tokens without a role, for another resource, or with a changed signature", async () => {
  const { authorization } = await connect(["operators"]);
  const changed = `${authorization.slice(0, -20)}${"A".repeat(20)}`;
  const refused = await initialize(changed);
  expect(refused.status).toBe(401);
  expect(refused.headers.get("www-authenticate")).toBe(
    `Bearer resource_metadata="${server.baseUrl}/.well-known/oauth-protected-resource/mcp", error="invalid_token"`,
  );
  const [, claims = ""] = authorization.split(".");
  const unsigned = `${Buffer.from(JSON.stringify({ alg: "none" })).toString("base64url")}.${claims}.`;
  expect((await initialize(`Bearer ${unsigned}x`)).status).toBe(401);
  const other = await startTestServer({
    oidc_issuer: provider.issuer,
    oidc_client_id: testClient.id,
    oidc_roles: ["sub=*:*:admin"],
  });
  const elsewhere = await fetch(`${other.baseUrl}/mcp`, { method: "POST", headers: { authorization } });
  expect(elsewhere.status).toBe(401);
  await other.close();
  const { authorization: without } = await connect(["others"]);
  expect((await initialize(without)).status).toBe(403);
});

it("takes the audience of access tokens from no header of a request", async () => {
  const { authorization } = await connect(["operators"]);
  const { port } = new URL(server.baseUrl);
  // The same service by another name, as a token for that name would need it.
  for (const host of [`localhost:${port}`, "127.0.0.1:1", "localhost", "evil-mcp.localhost"]) {
    const { status, text } = await rawGet(`${server.baseUrl}/.well-known/oauth-protected-resource/mcp`, { host });
    expect([status, (JSON.parse(text) as { resource: string }).resource]).toEqual([200, `${server.baseUrl}/mcp`]);
  }
  // Behind a proxy, the service does not know its address.
  const proxied = await startTestServer({
    oidc_issuer: provider.issuer,
    oidc_client_id: testClient.id,
    oidc_roles: ["groups=operators:*:operator"],
    trusted_proxies: ["127.0.0.1"],
  });
  const { host } = new URL(server.baseUrl);
  for (const headers of [{ host }, { "x-forwarded-host": host }, { host, "x-forwarded-proto": "http" }]) {
    const refused = await rawGet(`${proxied.baseUrl}/mcp`, { ...headers, authorization });
    expect([headers, refused.status]).toEqual([headers, 401]);
  }
  const elsewhere = await rawGet(`${proxied.baseUrl}/.well-known/oauth-protected-resource/mcp`, {
    host: "evil.example",
  });
  expect(JSON.parse(elsewhere.text)).not.toHaveProperty("authorization_servers");
  await proxied.close();
});

it("does not accept access tokens outside /mcp", async () => {
  const { authorization } = await connect(["operators"]);
  const answer = await server.request("GET", "/profiles", { key: null, headers: { authorization } });
  expect(answer.status).toBe(401);
  expect(server.log()).not.toContain(authorization.slice("Bearer ".length, 80));
});
