import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { createKeySecret } from "../http/auth/api-key-secret.ts";
import { createLog, redact } from "./log.ts";
import { createSecrets } from "../storage/secrets.ts";

async function logged(
  format: "json" | "pretty",
  write: (log: Awaited<ReturnType<typeof createLog>>) => void,
): Promise<string> {
  const out = new PassThrough();
  const log = await createLog({ log_level: "debug", log_format: format }, out);
  write(log);
  await new Promise(setImmediate);
  return String(out.read());
}

it.each(["json", "pretty"] as const)("redacts keys, tokens and passwords (%s)", async (format) => {
  const key = createKeySecret();
  const jwt = createSecrets("x".repeat(32)).signSession("s1", "k1");
  const text = await logged(format, (log) => {
    log.info(
      { headers: { authorization: `Bearer ${key}` }, jwt, api_key: key, nested: { key, jwt, password: "hunter2" } },
      "fields",
    );
    log.info({ url: `/browsers/s1/cdp?jwt=${jwt}&x=1` }, `text with ${key} and Authorization: Bearer ${key}`);
    log.error(
      { err: new Error(`connect postgres://shoal:hunter2@db/x failed for ${key}, ws://h/browsers/s1/cdp?jwt=${jwt}`) },
      "an error",
    );
  });
  expect(text).toContain("fields");
  expect(text).toContain("an error");
  for (const secret of [key, key.slice(9), jwt, jwt.split(".")[2] ?? "?", "hunter2"])
    expect(text).not.toContain(secret);
});

it("keeps other text", () => {
  expect(redact('{"path":"/browsers/k3f9/cdp","url":"http://127.0.0.1:7777/x@y"}')).toBe(
    '{"path":"/browsers/k3f9/cdp","url":"http://127.0.0.1:7777/x@y"}',
  );
});

it("writes JSON lines that stay JSON", async () => {
  const text = await logged("json", (log) => {
    log.info({ request_id: "r1", header: 'Bearer "abc' }, 'jwt=a"b');
  });
  expect(JSON.parse(text)).toMatchObject({ level: "info", request_id: "r1" });
});
