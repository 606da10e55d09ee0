import { GetObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { gunzipSync } from "node:zlib";
import type { Settings } from "../config/settings.ts";
import { startTestS3, type TestS3 } from "./s3-server.ts";
import { startTestSts, type TestSts } from "./sts-server.ts";

/** An S3 store that checks signatures, an STS that issues its keys, and the settings of a service that uses both. */
export interface ExportTarget {
  readonly s3: TestS3;
  readonly sts: TestSts;
  /** Exports begin a second after an entry. */
  readonly settings: Settings & { readonly audit_export_identity: string };
  /** Objects below a prefix of bucket `shoal`, by name without the prefix, sorted. */
  objects(prefix: string): Promise<Map<string, Buffer>>;
  lines(prefix: string): Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
}

export const targetDestination = {
  type: "s3",
  format: "jsonl.gz",
  bucket: "shoal",
  region: "eu-central-1",
  role_arn: "arn:aws:iam::123456789012:role/audit",
};

export async function startExportTarget(): Promise<ExportTarget> {
  const s3 = await startTestS3("signed");
  // These characters require escaping in a URL.
  const user = { accessKey: "AKIASHOAL", secretKey: "topsecret/with+signs", region: "eu-central-1" };
  const sts = await startTestSts(user);
  const reader = new S3Client({
    endpoint: `http://${s3.host}`,
    region: "eu-central-1",
    forcePathStyle: true,
    credentials: { accessKeyId: s3.accessKey, secretAccessKey: s3.secretKey },
  });

  async function objects(prefix: string): Promise<Map<string, Buffer>> {
    const start = `PUT /shoal/${prefix.replaceAll("=", "%3D")}`;
    const names = [
      ...new Set(
        s3.done
          .filter((asked) => asked.startsWith(start) && asked.endsWith(".gz"))
          .map((asked) => asked.slice(start.length)),
      ),
    ].sort();
    const found = new Map<string, Buffer>();
    for (const name of names) {
      const { Body } = await reader.send(new GetObjectCommand({ Bucket: "shoal", Key: prefix + name }));
      if (Body !== undefined) found.set(name, Buffer.from(await Body.transformToByteArray()));
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
        .map((line) => JSON.parse(line) as Record<string, unknown>);
    },
    async close() {
      await sts.close();
      await s3.close();
    },
  };
}
