import S3rver from "@20minutes/s3rver";
import { startFauxqs } from "fauxqs";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** An S3-compatible server with a bucket `shoal`, and the way to it. */
export interface TestS3 {
  /** `127.0.0.1:port`. */
  readonly host: string;
  readonly accessKey: string;
  readonly secretKey: string;
  /** For `blob_store_url`, with a prefix. */
  readonly url: string;
  /** What it was asked so far: `PUT /shoal/…`. */
  readonly requests: string[];
  /** What of that the server behind it has answered. */
  readonly done: string[];
  /** Headers of the latest request. */
  lastHeaders: IncomingHttpHeaders;
  /** While it is set, it is told of each request; `"away"` breaks the connection, `"half"` breaks it within the answer, `"unanswered"` does what is asked and says nothing until the client goes, `"lost"` does it and breaks the connection, a number is the answer's status instead of the server's own. */
  fault: ((request: string) => "away" | "half" | "lost" | "unanswered" | number | undefined) | undefined;
  close(): Promise<void>;
}

interface Behind {
  readonly port: number;
  stop(): Promise<void>;
}

/** Puts parts together and throws them away as S3 does, and pages its lists; it looks at no signature. */
async function startWithoutSignatures(): Promise<Behind> {
  return startFauxqs({ port: 0, host: "127.0.0.1", logger: false, init: { buckets: ["shoal"] } });
}

/** Checks signatures; it knows nothing of uploads that are given up, and signs lists otherwise than S3. */
async function startWithSignatures(): Promise<Behind> {
  const directory = mkdtempSync(join(tmpdir(), "shoal-s3-"));
  const server = new S3rver({ address: "127.0.0.1", port: 0, directory, silent: true, configureBuckets: [{ name: "shoal" }] });
  const { port } = await server.run();
  return {
    port,
    async stop() {
      await server.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** @param kind - whether it checks signatures. */
export async function startTestS3(kind: "unsigned" | "signed" = "unsigned"): Promise<TestS3> {
  const behind = await (kind === "signed" ? startWithSignatures() : startWithoutSignatures());
  const gate = createServer((incoming, outgoing) => {
    const asked = `${incoming.method ?? ""} ${incoming.url ?? ""}`;
    store.requests.push(asked);
    store.lastHeaders = incoming.headers;
    const fault = store.fault?.(asked);
    if (fault === "away") incoming.socket.destroy();
    else if (typeof fault === "number") {
      incoming.resume();
      incoming.once("end", () => outgoing.writeHead(fault).end());
    } else {
      const inside = request(
        { port: behind.port, host: "127.0.0.1", method: incoming.method, path: incoming.url, headers: incoming.headers, agent: false },
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
          if (fault === "half") answer.once("data", (chunk: Buffer) => outgoing.write(chunk.subarray(0, 1000), () => incoming.socket.destroy()));
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
  // A socket that listens on a port has such an address.
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
