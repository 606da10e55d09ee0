import { S3mini } from "s3mini";
import { gunzipSync } from "node:zlib";
import type { Settings } from "../config/settings.ts";
import { startTestS3, type TestS3 } from "./s3-server.ts";
import { startTestSts, type TestSts } from "./sts-server.ts";

/** A store that checks signatures, an STS that gives its keys, and the settings that lead a service to both. */
export interface ExportTarget {
  readonly s3: TestS3;
  readonly sts: TestSts;
  /** Exports begin a second after an entry. */
  readonly settings: Settings & { readonly audit_export_identity: string };
  /** What was put below a prefix of bucket `shoal` and is there, by name without the prefix, sorted. */
  objects(prefix: string): Promise<Map<string, Buffer>>;
  /** Lines of all those objects, one object after another. */
  lines(prefix: string): Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
}

/** What a destination is made with, to be written to by a service with the target's settings. */
export const targetDestination = {
  type: "s3",
  format: "jsonl.gz",
  bucket: "shoal",
  region: "eu-central-1",
  role_arn: "arn:aws:iam::123456789012:role/audit",
};

export async function startExportTarget(): Promise<ExportTarget> {
  const s3 = await startTestS3("signed");
  // Characters that have to be escaped within an address.
  const user = { accessKey: "AKIASHOAL", secretKey: "topsecret/with+signs", region: "eu-central-1" };
  const sts = await startTestSts(user);
  const reader = new S3mini({
    accessKeyId: s3.accessKey,
    secretAccessKey: s3.secretKey,
    endpoint: `http://${s3.host}/shoal`,
    region: "eu-central-1",
  });

  async function objects(prefix: string): Promise<Map<string, Buffer>> {
    const start = `PUT /shoal/${prefix.replaceAll("=", "%3D")}`;
    const names = [
      ...new Set(s3.done.filter((asked) => asked.startsWith(start) && asked.endsWith(".gz")).map((asked) => asked.slice(start.length))),
    ].sort();
    const found = new Map<string, Buffer>();
    for (const name of names) {
      const response = await reader.getObjectResponse(prefix + name);
      if (response !== null) found.set(name, Buffer.from(await response.arrayBuffer()));
    }
    return found;
  }

  return {
    s3,
    sts,
    settings: {
      audit_export_identity: `aws://${user.accessKey}:${encodeURIComponent(user.secretKey)}@${user.region}`,
      audit_export_role_arn: "arn:aws:iam::210987654321:user/shoal",
      audit_export_sts_url: sts.url,
      audit_export_s3_url: `http://${s3.host}`,
      audit_export_seconds: 1,
    },
    objects,
    async lines(prefix) {
      const found = [...(await objects(prefix)).values()].map((bytes) => gunzipSync(bytes).toString());
      return found
        .join("")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as Record<string, unknown>); // as the service wrote them
    },
    async close() {
      await sts.close();
      await s3.close();
    },
  };
}
