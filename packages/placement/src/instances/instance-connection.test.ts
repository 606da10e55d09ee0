import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, request } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, it, onTestFinished } from "vitest";
import { connectInstance, createInstanceAgent } from "./instance-connection.ts";

async function listen(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "shoal-connection-"));
  const path = join(folder, "socket");
  const server = createServer((_request, response) => {
    response.end("answered");
  });
  server.listen({ path, backlog: 1 });
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
    rmSync(folder, { recursive: true, force: true });
  });
  return path;
}

const many = Array.from({ length: 40 });

describe.skipIf(process.platform !== "linux")("an instance that is too busy to accept connections", () => {
  it("accepts all of them a moment later", async () => {
    const path = await listen();
    const refused = await Promise.all(
      many.map(async () => {
        const socket = connect(path);
        const outcome = await once(socket, "connect").then(
          () => "connected",
          (error: unknown) => (error as NodeJS.ErrnoException).code,
        );
        socket.destroy();
        return outcome;
      }),
    );
    expect(refused).toContain("EAGAIN");
    const sockets = await Promise.all(many.map(() => connectInstance(path)));
    for (const socket of sockets) socket.destroy();
  });

  it("answers all requests of a burst", async () => {
    const path = await listen();
    const agent = createInstanceAgent(() => connectInstance(path));
    const answers = await Promise.all(
      many.map(
        () =>
          new Promise<string>((resolve, reject) => {
            request({ agent, socketPath: path, method: "POST" }, (response) => {
              text(response).then(resolve, reject);
            })
              .on("error", reject)
              .end();
          }),
      ),
    );
    expect(new Set(answers)).toEqual(new Set(["answered"]));
    agent.destroy();
  });
});

it("fails at once if nothing listens", async () => {
  await expect(connectInstance(join(tmpdir(), "shoal-no-such-socket"))).rejects.toMatchObject({ code: "ENOENT" });
});
