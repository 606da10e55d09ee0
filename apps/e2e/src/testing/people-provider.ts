import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import Provider from "oidc-provider";
import type { Page } from "playwright-core";

const client = { id: "shoal", secret: "a secret of the service" };

export interface PeopleProvider {
  /** Of a service in which people of the groups viewers, operators and admins have these roles in all projects. */
  readonly flags: readonly string[];
  /** Signs a member of the group in, on the sign-in page of the console. */
  signIn(page: Page, group: string): Promise<void>;
  close(): Promise<void>;
}

/** A real OpenID Connect provider with its own pages. @param baseUrl - address of the service, read after its start. */
export async function startPeopleProvider(baseUrl: () => string): Promise<PeopleProvider> {
  const server = createServer();
  await once(server.listen(0, "127.0.0.1"), "listening");
  const issuer = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  let provider: Provider | undefined;
  const start = () =>
    new Provider(issuer, {
      clients: [
        {
          client_id: client.id,
          client_secret: client.secret,
          redirect_uris: [`${baseUrl()}/console/oidc/callback`],
        },
      ],
      claims: { openid: ["sub"], profile: ["name"], email: ["email", "email_verified"], groups: ["groups"] },
      scopes: ["openid", "profile", "email", "groups"],
      cookies: { keys: ["test"] },
      // The name of an account is its group.
      findAccount: (_context, sub) => ({
        accountId: sub,
        claims: () => ({
          sub,
          name: `Member of ${sub}`,
          email: `${sub}@example.com`,
          email_verified: true,
          groups: [sub],
        }),
      }),
    });
  server.on("request", (request, response) => {
    void (provider ??= start()).callback()(request, response);
  });
  const roles = ["viewer", "operator", "admin"].map((role) => `groups=${role}s:*:${role}`);
  return {
    flags: [
      ...["--oidc-issuer", issuer, "--oidc-client-id", client.id, "--oidc-client-secret", client.secret],
      ...["--oidc-label", "Example", "--oidc-scopes", "openid,profile,email,groups", "--oidc-roles", roles.join(",")],
    ],
    async signIn(page, group) {
      await page.getByRole("link", { name: "Example" }).click();
      await page.locator("[name=login]").fill(group);
      await page.locator("[name=password]").fill("x");
      await page.getByRole("button", { name: /sign.in/i }).click();
      await page.getByRole("button", { name: /continue/i }).click();
      await page.getByRole("navigation", { name: "Main" }).waitFor();
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
