import { eventuallyPasses } from "@shoal/testkit";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { splice } from "./splice.ts";

/** The far end is spliced. Sockets of an HTTP server allow half-closes, but those of `connect` do not. */
async function pair(allowHalfOpen: boolean): Promise<{ near: Socket; far: Socket }> {
  const server = createServer({ allowHalfOpen }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const near = connect({ port: (server.address() as AddressInfo).port, host: "127.0.0.1", allowHalfOpen: true });
  near.on("error", () => undefined);
  const [far] = (await once(server, "connection")) as [Socket];
  server.close();
  onTestFinished(() => {
    near.destroy();
    far.destroy();
  });
  return { near, far };
}

async function spliced() {
  const [client, instance] = await Promise.all([pair(true), pair(false)]);
  splice(client.far, instance.far, () => {
    if (!client.far.writableEnded) client.far.end();
    return Promise.resolve();
  });
  const closed = () =>
    eventuallyPasses(() => {
      expect([client.far.closed, instance.far.closed]).toEqual([true, true]);
    });
  return { client: client.near, instance: instance.near, closed };
}

it("carries bytes and half-closes in both directions", async () => {
  const { client, instance, closed } = await spliced();
  let [fromClient, fromInstance] = ["", ""];
  instance.on("data", (chunk: Buffer) => (fromClient += chunk.toString()));
  client.on("data", (chunk: Buffer) => (fromInstance += chunk.toString()));
  client.end("question");
  await once(instance, "end");
  instance.end("answer");
  await once(client, "end");
  expect([fromClient, fromInstance]).toEqual(["question", "answer"]);
  await closed();
});

it.each([
  [
    "closes after the instance",
    (client: Socket) => {
      client.on("end", () => client.end()).resume();
    },
  ],
  [
    "continues to send to a closed instance",
    (client: Socket) => {
      client
        .on("end", () => {
          client.write(Buffer.alloc(1_000_000));
          client.end();
        })
        .resume();
    },
  ],
  [
    "resets the connection",
    (client: Socket) => {
      client.on("end", () => client.resetAndDestroy()).resume();
    },
  ],
  [
    "never closes its side",
    (client: Socket) => {
      client.resume();
    },
  ],
])("keeps no socket of a client that %s", async (_, behave) => {
  const { client, instance, closed } = await spliced();
  behave(client);
  // Both halves end in order, like those of an instance that is stopped.
  instance.on("end", () => undefined).resume();
  instance.end("last words");
  client.write("x");
  await once(client, "data");
  instance.destroy();
  await closed();
});

it("destroys one socket when the other is destroyed", async () => {
  const { client, instance, closed } = await spliced();
  client.resume();
  instance.resetAndDestroy();
  await once(client, "end");
  await closed();
});
