import { describe, expect, it } from "vitest";
import { runOn, unusedPort } from "../servers.ts";
import { type DatabaseSuite, refusal } from "./suite.ts";

export function problemTests(suite: DatabaseSuite): void {
  describe("connection problems", () => {
    it.each([
      ["another scheme", "mysql://user:secret1@host/db"],
      ["no scheme", "user:secret1@host/db"],
      ["no URL at all", "secret1"],
      ["a broken port", "postgres://user:secret1@host:port/db"],
      ["a broken escape", "postgres://user:secret1%@host/db"],
      ["a broken escape in the name", "postgres://user:secret1@host/db%"],
    ])("%s", async (_, url) => {
      const error = await refusal(url);
      expect(error.code).toBe("invalid_url");
      expect(`${error.message} ${error.hint} ${String(error.cause)} ${String(error.stack)}`).not.toContain("secret1");
    });

    it("reports a closed port, an unknown host and a missing socket", async () => {
      const closed = await refusal(`postgres://shoal:secret1@127.0.0.1:${await unusedPort()}/db`);
      expect(closed).toMatchObject({ code: "connection_failed" });
      expect(closed.message).toContain("127.0.0.1");
      expect(await refusal("postgres://shoal:secret1@nowhere.invalid/db")).toMatchObject({ code: "connection_failed" });
      expect(await refusal("postgres:///db?host=/nowhere&user=x")).toMatchObject({ code: "connection_failed" });
      const both = await refusal(`postgres://shoal:secret1@localhost:${await unusedPort()}/db`);
      expect(both.message).toContain("ECONNREFUSED");
      for (const error of [closed, both])
        expect(`${error.message} ${error.hint} ${String(error.stack)} ${JSON.stringify(error.cause)}`).not.toContain(
          "secret1",
        );
    });

    it("reports a wrong password, an unknown database and missing TLS", async () => {
      const wrong = await refusal(suite.server.url.replace(/:[^:@]*@/, ":secret1@"));
      expect(wrong).toMatchObject({ code: "authentication_failed" });
      expect(await refusal(suite.server.url.replace(/\/postgres$/, "/missing"))).toMatchObject({
        code: "database_missing",
      });
      const tls = await refusal(`${suite.server.url}?sslmode=verify-full`);
      expect(tls).toMatchObject({ code: "tls_failed" });
      expect(`${wrong.message}${JSON.stringify(wrong.cause)}`).not.toContain("secret1");
      expect(tls.message + tls.hint).not.toContain(suite.server.password);
    });

    it("reports a database with another encoding than UTF-8", async () => {
      const url = await suite.server.createDatabase(`encoding 'LATIN1' ${suite.server.plainLocale} template template0`);
      expect(await refusal(url)).toMatchObject({ code: "encoding_unsupported" });
    });

    it("reports a role that cannot create tables, and a read-only role", async () => {
      const url = await suite.server.createDatabase();
      await runOn(suite.server.url, "drop role if exists guest", "create role guest login password 'secret1'");
      await runOn(url, "revoke create on schema public from public");
      const guest = url.replace(/\/\/[^@]*@/, "//guest:secret1@");
      expect(await refusal(guest)).toMatchObject({ code: "permission_denied" });
      expect(await refusal(`${url}?options=-c%20default_transaction_read_only=on`)).toMatchObject({
        code: "server_read_only",
      });
    });
  });
}
