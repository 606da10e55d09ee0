import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

it("is one document with a strict policy, and its code is not logged", async () => {
  const page = await fetch(`${server.baseUrl}/auth/sign-in/c1?code=f1.k1.0.secret`);
  const html = await page.text();
  expect(Object.fromEntries(page.headers)).toMatchObject({
    "cache-control": "no-store",
    "content-type": "text/html; charset=utf-8",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
  });
  const policy = page.headers.get("content-security-policy") ?? "";
  expect(policy).toMatch(
    /^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; img-src data: blob:; media-src 'self'; connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
  );
  expect(html).not.toMatch(/<(?:script|link|img)[^>]+(?:src|href)="(?!data:)/);
  expect(server.log()).toContain("/auth/sign-in/c1");
  expect(server.log()).not.toContain("secret");
});

it("may be embedded by the sites of the setting", async () => {
  const embeddable = await startTestServer({ sign_in_frame_ancestors: ["self", "https://app.example"] });
  const { headers } = await fetch(`${embeddable.baseUrl}/auth/sign-in/c1`);
  expect(headers.get("content-security-policy")).toContain("frame-ancestors 'self' https://app.example");
  await embeddable.close();
});

const origin = "https://app.example";
const preflight = (path: string, method: string) =>
  server.request("OPTIONS", path, {
    key: null,
    headers: {
      origin,
      "access-control-request-method": method,
      "access-control-request-headers": "authorization,content-type",
    },
  });

it.each([
  ["/exchange", "POST"],
  ["", "GET"],
  ["/submit", "POST"],
  ["/events", "GET"],
])("lets pages of other origins call /auth/connections/{id}%s", async (path, method) => {
  const { headers, status } = await preflight(`/auth/connections/c1${path}`, method);
  expect(status).toBe(204);
  expect(Object.fromEntries(headers)).toMatchObject({
    "access-control-allow-origin": "*",
    "access-control-allow-methods": method,
    "access-control-allow-headers": expect.stringContaining("authorization") as unknown,
  });
  expect(headers.has("access-control-allow-credentials")).toBe(false);
  const answer = await server.request(method, `/auth/connections/c1${path}`, {
    key: null,
    headers: { origin },
    ...(method === "POST" && { body: {} }),
  });
  expect([answer.status >= 400, answer.headers.get("access-control-allow-origin")]).toEqual([true, "*"]);
});

it("keeps every other operation closed to pages of other origins", async () => {
  for (const [path, method] of [
    ["/auth/connections", "POST"],
    ["/auth/connections/c1", "DELETE"],
    ["/auth/connections/c1/login", "POST"],
    ["/auth/connections/c1/timeline", "GET"],
    ["/browsers", "GET"],
    ["/health", "GET"],
  ] as const) {
    const before = await preflight(path, method);
    expect([path, before.headers.get("access-control-allow-methods")?.includes(method) ?? false]).toEqual([
      path,
      false,
    ]);
    const answer = await server.request(method, path, { headers: { origin } });
    expect([path, answer.headers.has("access-control-allow-origin")]).toEqual([path, false]);
  }
});
