import S3rver from "@20minutes/s3rver";
import { startFauxqs } from "fauxqs";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** An S3-compatible server with a bucket `shoal`, behind a proxy that injects faults. */
export interface TestS3 {
  readonly host: string;
  readonly accessKey: string;
  readonly secretKey: string;
  /** For `blob_store_url`, with a prefix. */
  readonly url: string;
  readonly requests: string[];
  /** The requests that the server behind the proxy has answered. */
  readonly done: string[];
  lastHeaders: IncomingHttpHeaders;
  /**
   * `"away"` breaks the connection, `"half"` breaks it during the answer, `"unanswered"` runs the request without an
   * answer, `"lost"` runs it and breaks the connection, a number replaces the status.
   */
  fault: ((request: string) => "away" | "half" | "lost" | "unanswered" | number | undefined) | undefined;
  close(): Promise<void>;
}

interface Behind {
  readonly port: number;
  stop(): Promise<void>;
}

/** Supports multipart uploads and paged lists like S3; ignores signatures. */
async function startWithoutSignatures(): Promise<Behind> {
  return startFauxqs({ port: 0, host: "127.0.0.1", logger: false, init: { buckets: ["shoal"] } });
}

/** Checks signatures; does not support aborted uploads, and signs lists differently from S3. */
async function startWithSignatures(): Promise<Behind> {
  const directory = mkdtempSync(join(tmpdir(), "shoal-s3-"));
  const server = new S3rver({
    address: "127.0.0.1",
    port: 0,
    directory,
    silent: true,
    configureBuckets: [{ name: "shoal" }],
  });
  const { port } = await server.run();
  return {
    port,
    async stop() {
      await server.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** @param kind - `signed` checks signatures. */
export async function startTestS3(kind: "unsigned" | "signed" = "unsigned"): Promise<TestS3> {
  const behind = await (kind === "signed" ? startWithSignatures() : startWithoutSignatures());
  const gate = createServer((incoming, outgoing) => {
    const asked = `${incoming.method ?? ""} ${(incoming.url ?? "").replace(/[?&]x-id=\w+$/, "")}`;
    store.requests.push(asked);
    store.lastHeaders = incoming.headers;
    const fault = store.fault?.(asked);
    if (fault === "away") incoming.socket.destroy();
    else if (typeof fault === "number") {
      incoming.resume();
      incoming.once("end", () => outgoing.writeHead(fault).end());
    } else {
      const inside = request(
        {
          port: behind.port,
          host: "127.0.0.1",
          method: incoming.method,
          path: incoming.url,
          headers: incoming.headers,
          agent: false,
        },
        (answer) => {
          if (fault === "lost" || fault === "unanswered") {
            answer.resume().once("end", () => {
              store.done.push(asked);
              if (fault === "lost") incoming.socket.destroy();
            });
            return;
          }
          answer.once("end", () => store.done.push(asked));
          outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
          if (fault === "half")
            answer.once("data", (chunk: Buffer) =>
              outgoing.write(chunk.subarray(0, 1000), () => incoming.socket.destroy()),
            );
          else answer.pipe(outgoing);
        },
      );
      inside.on("error", () => incoming.socket.destroy());
      outgoing.on("close", () => inside.destroy());
      incoming.pipe(inside);
    }
  });
  gate.listen(0, "127.0.0.1");
  await once(gate, "listening");
  const host = `127.0.0.1:${String((gate.address() as AddressInfo).port)}`;
  const store: TestS3 = {
    host,
    accessKey: "S3RVER",
    secretKey: "S3RVER",
    url: `s3://S3RVER:S3RVER@${host}/shoal/kept?tls=false`,
    requests: [],
    done: [],
    lastHeaders: {},
    fault: undefined,
    async close() {
      gate.close();
      gate.closeAllConnections();
      await behind.stop();
    },
  };
  return store;
}
