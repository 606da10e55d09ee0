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

it("shows control characters and marks of text direction on a terminal as escapes", async () => {
  const marks = "\u001b[2J \u009b31m \u202e \u200b \u0007 \r \b \u007f";
  const text = await logged("pretty", (log) => {
    log.info({ path: `/a${marks}`, nested: { deep: [marks] } }, `message ${marks}`);
    log.warn({ err: new Error(`error ${marks}`) }, "C:\\user\\u0041\tname");
  });
  // oxlint-disable-next-line no-control-regex -- matches control characters on purpose
  expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e]/);
  expect(text).toContain(String.raw`message \u001b[2J \u009b31m \u202e \u200b \u0007 \r \b \u007f`);
  expect(text).toContain(String.raw`error \u001b[2J`);
  expect(text).toContain("C:\\user\\u0041\tname");
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
