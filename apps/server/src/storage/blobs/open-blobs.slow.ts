import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { loadConfig } from "../../config/config.ts";
import { createId } from "@shoal/primitives";
import { startTestS3, type TestS3 } from "../../testing/s3-server.ts";
import { withAwsSdk } from "./aws-sdk.ts";
import { openBlobs } from "./open-blobs.ts";
import { readS3Address } from "../../config/s3-address.ts";

let folder: string;
let s3: TestS3;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "shoal-open-blobs-"));
  s3 = await startTestS3("signed");
});
afterAll(async () => {
  await s3.close();
  await rm(folder, { recursive: true });
});

// The SDK must not look for a role outside the test.
beforeEach(() => {
  vi.stubEnv("AWS_EC2_METADATA_DISABLED", "true");
  for (const name of ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"])
    vi.stubEnv(name, undefined);
  for (const name of ["AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"]) vi.stubEnv(name, join(folder, "none"));
});
afterEach(() => {
  vi.unstubAllEnvs();
});

const content = (sizeBytes = 3) => Readable.from([Buffer.alloc(sizeBytes, "x")]);

async function refusal(settings: Parameters<typeof openBlobs>[0]): Promise<string> {
  const error: unknown = await openBlobs(settings, folder).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toMatchObject({ name: "StartError" });
  const { hint, message } = error as { hint: string; message: string };
  return `${message} ${hint}`;
}

it("parses addresses", () => {
  expect(
    readS3Address("s3://key:se%2Fcr%40et@s3.eu-central-1.amazonaws.com/my-bucket/a/b.c?region=eu-central-1"),
  ).toEqual({
    endpoint: "https://s3.eu-central-1.amazonaws.com",
    bucket: "my-bucket",
    prefix: "a/b.c/",
    region: "eu-central-1",
    accessKey: "key",
    secretKey: "se/cr@et",
  });
  expect(readS3Address("s3://minio:9000/bucket?tls=false")).toEqual({
    endpoint: "http://minio:9000",
    bucket: "bucket",
    prefix: "",
    region: "us-east-1",
    accessKey: undefined,
    secretKey: undefined,
  });
  expect(readS3Address("s3://key:secret@[::1]:9000/bucket/")).toMatchObject({
    endpoint: "https://[::1]:9000",
    prefix: "",
  });
});

it.each([
  ["https://host/bucket", "must be s3://"],
  ["s3://key:topsecret@host", "must be s3://"],
  ["s3://key:topsecret@host/", "must be s3://"],
  ["s3://key:topsecret@host/Bucket", "invalid bucket name"],
  ["s3://key:topsecret@host/ab", "invalid bucket name"],
  ["s3://key:topsecret@host/bucket/a%2F..%2Fb", "invalid prefix"],
  ["s3://key:topsecret@host/bucket/a b", "invalid prefix"],
  ["s3://key:topsecret%@host/bucket", "%25"],
  ["s3://key@host/bucket", "a key without a secret"],
  ["s3://key:topsecret@host/bucket?tls=no", "tls"],
  ["s3://key:topsecret@host/bucket?region=", "region"],
  ["s3://key:topsecret@host/bucket?acl=public", "the parameters are region and tls"],
  ["s3://key:topsecret@host/bucket#x", "%23"],
])("rejects %s as a setting", (address, why) => {
  const load = () => loadConfig({ env: { SHOAL_BLOB_STORE_URL: address }, cwd: folder });
  expect(load).toThrow(`SHOAL_BLOB_STORE_URL is ***, but`);
  expect(load).toThrow(why);
  expect(load).not.toThrow(/topsecret/);
});

it("uses credentials of the environment, temporary ones included", async () => {
  vi.stubEnv("AWS_ACCESS_KEY_ID", s3.accessKey);
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", s3.secretKey);
  vi.stubEnv("AWS_SESSION_TOKEN", "token/of+a=role");
  const config = loadConfig({ env: { SHOAL_BLOB_STORE_URL: `s3://${s3.host}/shoal?tls=false` }, cwd: folder });
  const blobs = (await openBlobs(config, folder))("profiles");
  const { name } = await blobs.put(content(), { maxBytes: 3 });
  expect(s3.requests.at(-1)).toBe(`PUT /shoal/profiles/${name}`);
  expect(s3.lastHeaders["x-amz-security-token"]).toBe("token/of+a=role");
});

it("uses a profile of the AWS configuration", async () => {
  const file = join(folder, "credentials");
  await writeFile(file, `[shoal]\naws_access_key_id = ${s3.accessKey}\naws_secret_access_key = ${s3.secretKey}\n`);
  vi.stubEnv("AWS_SHARED_CREDENTIALS_FILE", file);
  vi.stubEnv("AWS_PROFILE", "shoal");
  const blobs = await openBlobs({ blob_store_url: `s3://${s3.host}/shoal?tls=false` }, folder);
  expect(await blobs("profiles").get(createId())).toBeUndefined();
});

it("explains what to install when the AWS SDK is missing", async () => {
  const missing = ["@aws-sdk", "not-installed"].join("/");
  await expect(withAwsSdk("blob_store_url", () => import(missing))).rejects.toMatchObject({
    name: "StartError",
    message: "blob_store_url needs the AWS SDK, an optional dependency that is not installed.",
  });
});

it("reports problems at start, without secrets", async () => {
  const url = (credentials: string, bucket = "shoal") => `s3://${credentials}@${s3.host}/${bucket}?tls=false`;
  expect(await refusal({ blob_store_url: url("S3RVER:topsecret") })).toMatch(
    /bucket shoal at 127.+ 403 SignatureDoesNotMatch.+ The secret does not belong to the access key/,
  );
  expect(await refusal({ blob_store_url: url("somebody:topsecret") })).toMatch(
    /403 InvalidAccessKeyId.+ does not know the access key/,
  );
  expect(await refusal({ blob_store_url: url("S3RVER:S3RVER", "not-there") })).toMatch(
    /bucket not-there .+ 404 NoSuchBucket.+ Create the bucket first/,
  );
  expect(await refusal({ blob_store_url: "s3://key:topsecret@127.0.0.1:1/shoal?tls=false" })).toMatch(
    /ECONNREFUSED|bad port/,
  );
  expect(await refusal({ blob_store_url: `s3://key:topsecret@${s3.host}/shoal` })).toContain("&tls=false");
  expect(await refusal({ blob_store_url: url("S3RVER:S3RVER"), blobs_dir: folder })).toContain(
    "blobs_dir and blob_store_url",
  );
  expect(await refusal({ blob_store_url: `s3://${s3.host}/shoal` })).toContain("AWS_ACCESS_KEY_ID");
  expect(await refusal({ blob_store_url: url("ASIA123:topsecret") })).toContain("temporary");
  for (const credentials of ["S3RVER:topsecret", "somebody:topsecret"])
    expect(await refusal({ blob_store_url: url(credentials) })).not.toContain("topsecret");
});

it("retries when the store is overloaded, then answers 503", async () => {
  const blobs = (await openBlobs({ blob_store_url: s3.url }, folder))("profiles");
  let refusals = 2;
  s3.fault = () => (refusals-- > 0 ? 503 : undefined);
  const { name } = await blobs.put(content(), { maxBytes: 3 });
  const away = { status: 503, code: "blob_store_unavailable", retryAfterSeconds: 5 };
  for (const fault of ["away", 500] as const) {
    s3.fault = () => fault;
    await expect(blobs.put(content(), { maxBytes: 3 })).rejects.toMatchObject(away);
    await expect(blobs.get(name)).rejects.toMatchObject(away);
    await expect(blobs.delete(name)).rejects.toMatchObject(away);
    await expect(blobs.listOlderThan(new Date())[Symbol.asyncIterator]().next()).rejects.toMatchObject(away);
  }
  s3.fault = undefined;
  const found = await blobs.get(name);
  expect(found && (await buffer(found.stream)).toString()).toBe("xxx");
  expect(await blobs.get(createId())).toBeUndefined();
});

it("reports a broken connection to the reader, before and during reading", async () => {
  const blobs = (await openBlobs({ blob_store_url: s3.url }, folder))("profiles");
  const { name } = await blobs.put(content(2 ** 20), { maxBytes: 2 ** 20 });
  s3.fault = () => "half";
  const [read, waiting] = [await blobs.get(name), await blobs.get(name)];
  s3.fault = undefined;
  expect(read?.sizeBytes).toBe(2 ** 20);
  await expect(read && buffer(read.stream)).rejects.toThrow();
  await expect.poll(() => waiting?.stream.destroyed).toBe(true);
  await expect(waiting && buffer(waiting.stream)).rejects.toThrow();
});

it("aborts an upload when the store becomes unavailable or cannot complete it", async () => {
  const blobs = (await openBlobs({ blob_store_url: s3.url }, folder))("profiles");
  const sizeBytes = 20 * 2 ** 20;
  for (const fails of [/^PUT .*partNumber=2/, /^POST .*uploadId=/]) {
    const before = s3.requests.length;
    s3.fault = (asked) => (fails.test(asked) ? "away" : undefined);
    await expect(blobs.put(content(sizeBytes), { maxBytes: sizeBytes })).rejects.toMatchObject({ status: 503 });
    // Another part may have been on its way.
    expect(s3.requests.slice(before)).toContainEqual(expect.stringMatching(/^DELETE .*uploadId=/));
  }
  s3.fault = undefined;
});
