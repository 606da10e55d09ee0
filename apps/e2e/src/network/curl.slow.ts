import { ApiError } from "@shoal/client";
import Kernel from "@onkernel/sdk";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { closedPort } from "../testing/closed-port.ts";
import { placements } from "../testing/components.ts";
import { useService } from "../testing/service.ts";
import { useSession } from "../testing/session.ts";
import { serveSite, type Site } from "../testing/site.ts";

describe.each(placements)("requests through a session's browser, in the placement $title", ({ placement, skip }) => {
  describe.skipIf(skip)("with a service", () => {
    let site: Site;
    beforeAll(async () => {
      site = await serveSite((request, response) => {
        const chunks: Buffer[] = [];
        request.on("data", (chunk: Buffer) => chunks.push(chunk));
        request.on("end", () => {
          if (request.url === "/login") response.setHeader("set-cookie", "sid=1; Path=/; HttpOnly; SameSite=Strict");
          if (request.url === "/missing") response.statusCode = 404;
          const { method, headers } = request;
          response
            .setHeader("content-type", "application/json")
            .end(JSON.stringify({ method, headers, bytes: Buffer.concat(chunks).toString("base64") }));
        });
      });
    });
    afterAll(async () => {
      await site.close();
    });
    const test = useService(() => ["--placement", placement, "--allow-private-hosts", "127.0.0.1"]);
    const session = useSession(test);

    interface Echo {
      readonly method: string;
      readonly headers: Record<string, string>;
      readonly bytes: string;
    }

    it("browsers.curl works through the service and directly with the session", async () => {
      const login = await test.shoal.browsers.curl(session.id, { url: `${site.url}login` });
      expect(login.headers["set-cookie"]).toEqual(["sid=1; Path=/; HttpOnly; SameSite=Strict"]);
      const posted = await test.shoal.browsers.curl(session.id, {
        url: site.url,
        method: "POST",
        body: "text",
        headers: { "x-own": "1" },
      });
      expect(JSON.parse(posted.body)).toMatchObject({
        method: "POST",
        bytes: Buffer.from("text").toString("base64"),
        headers: { "x-own": "1", cookie: "sid=1", "user-agent": expect.stringMatching(/Chrome/) as string },
      });
      const failed: unknown = await test.shoal.browsers
        .curl(session.id, { url: "http://127.0.0.1:9/" }, { maxRetries: 0 })
        .catch((error: unknown) => error);
      expect(ApiError.isInstance(failed) && [failed.status, failed.code, failed.fields.net_error_name]).toEqual([
        502,
        "bad_gateway",
        "net::ERR_UNSAFE_PORT",
      ]);
      const { status } = await fetch(`${test.service.baseUrl}/browsers/${session.id}/curl`, {
        method: "POST",
        headers: { authorization: `Bearer ${test.service.apiKey}`, "content-type": "application/json" },
        body: JSON.stringify({ url: site.url }),
      });
      expect(status).toBe(200);
    });

    it("reports addresses that the network rules refuse", async () => {
      const refusal = async (url: string) => {
        const error: unknown = await test.shoal.browsers
          .curl(session.id, { url }, { maxRetries: 0 })
          .catch((reason: unknown) => reason);
        return ApiError.isInstance(error) ? [error.status, error.fields.net_error_name, error.message] : error;
      };
      expect(await refusal("http://10.1.2.3/")).toEqual([
        502,
        "net::ERR_NETWORK_ACCESS_DENIED",
        expect.stringContaining("10.1.2.3 is") as string,
      ]);
      expect(await refusal("http://nothing.invalid/")).toEqual([
        502,
        "net::ERR_NAME_NOT_RESOLVED",
        expect.stringContaining("could not be resolved") as string,
      ]);
      expect(await refusal("https://nothing.invalid/")).toEqual([
        502,
        "net::ERR_TUNNEL_CONNECTION_FAILED",
        expect.stringContaining("nothing.invalid") as string,
      ]);
      const closed = await closedPort();
      expect(await refusal(`http://${closed.host}/`)).toEqual([
        502,
        "net::ERR_CONNECTION_REFUSED",
        expect.stringContaining("it refused the connection") as string,
      ]);
      closed.close();
    });

    it("browsers.fetch returns a site's answer unchanged", async () => {
      await test.shoal.browsers.get(session.id);
      const bytes = new Uint8Array([0, 255, 1, 254]);
      const posted = await test.shoal.browsers.fetch(session.id, site.url, {
        method: "PUT",
        body: bytes,
        headers: { authorization: "Bearer of the site", "x-own": "1" },
      });
      expect(posted.status).toBe(200);
      expect(posted.headers.get("content-type")).toBe("application/json");
      expect((await posted.json()) as Echo).toMatchObject({
        method: "PUT",
        bytes: Buffer.from(bytes).toString("base64"),
        headers: { authorization: "Bearer of the site", cookie: "sid=1", "x-own": "1" },
      });
      expect((await test.shoal.browsers.fetch(session.id, `${site.url}missing`)).status).toBe(404);
      const failed: unknown = await test.shoal.browsers
        .fetch(session.id, "http://127.0.0.1:9/")
        .catch((error: unknown) => error);
      expect(ApiError.isInstance(failed) && [failed.status, failed.fields.net_error]).toEqual([502, -312]);
      const { base_url: base = "" } = await test.shoal.browsers.get(session.id);
      const refused = await fetch(`${base}/curl/raw?url=${site.url}&jwt=wrong`);
      expect([refused.status, refused.headers.get("x-shoal-error")]).toEqual([401, "unauthorized"]);
    });

    it("removes identity headers of a reverse proxy and cookies of the service before the box and the site", async () => {
      const { base_url: base = "", cdp_ws_url: cdp } = await test.shoal.browsers.get(session.id);
      const token = new URL(cdp).searchParams.get("jwt") ?? "";
      const answer = await fetch(`${base}/curl/raw?url=${site.url}&jwt=${token}`, {
        headers: {
          "cf-access-jwt-assertion": "secret",
          "x-auth-request-email": "a@b.example",
          "x-custom": "secret",
          cookie: "proxy_session=secret",
          "sec-fetch-site": "none",
          "x-shoal-site-x-own": "2",
        },
      });
      const echo = (await answer.json()) as Echo;
      expect(echo.headers["x-own"]).toBe("2");
      expect(JSON.stringify(echo.headers)).not.toContain("secret");
      expect(Object.keys(echo.headers)).not.toContain("x-auth-request-email");
      expect([answer.headers.get("content-security-policy"), answer.headers.get("x-content-type-options")]).toEqual([
        "sandbox",
        "nosniff",
      ]);
    });

    it("accepts the session's token instead of a key, for this session alone", async () => {
      const { base_url: base = "", cdp_ws_url: cdp } = await test.shoal.browsers.get(session.id);
      const token = new URL(cdp).searchParams.get("jwt") ?? "";
      expect((await fetch(`${base}/fs/list_files?path=/&jwt=${token}`)).status).toBe(200);
      expect((await fetch(`${base}/fs/list_files?jwt=${token}&path=%2F`)).status).toBe(200);
      const other = await test.shoal.browsers.create({});
      expect((await fetch(`${other.base_url ?? ""}/fs/list_files?path=/&jwt=${token}`)).status).toBe(401);
      expect((await fetch(`${test.service.baseUrl}/browsers/${session.id}?jwt=${token}`)).status).toBe(401);
      await test.shoal.browsers.delete(other.session_id);
      expect(
        (
          await fetch(
            `${other.base_url ?? ""}/fs/list_files?path=/&jwt=${new URL(other.cdp_ws_url).searchParams.get("jwt") ?? ""}`,
          )
        ).status,
      ).toBe(404);
    });

    it("the hosted service's SDK works with both", async () => {
      const kernel = new Kernel({ apiKey: test.service.apiKey, baseURL: test.service.baseUrl });
      await kernel.browsers.retrieve(session.id);
      const direct = await kernel.browsers.curl(session.id, { url: site.url, method: "POST", body: "a" });
      expect(JSON.parse(direct.body)).toMatchObject({ method: "POST" });
      const fetched = await kernel.browsers.fetch(session.id, `${site.url}raw`, {
        method: "POST",
        body: new TextEncoder().encode("streamed"),
      });
      expect((await fetched.json()) as Echo).toMatchObject({
        method: "POST",
        bytes: Buffer.from("streamed").toString("base64"),
        headers: { "user-agent": expect.stringMatching(/Chrome/) as string },
      });
      const { result, stdout } = await kernel.browsers.playwright.execute(session.id, {
        code: "console.log('hi'); await page.goto(" + JSON.stringify(`${site.url}page`) + "); return page.url();",
      });
      expect([result, stdout]).toEqual([`${site.url}page`, "hi\n"]);
    });
  });
});
