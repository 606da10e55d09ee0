import { eventuallyPasses } from "@shoal/testkit";
import { once } from "node:events";
import type { Socket } from "node:net";
import { expect, it } from "vitest";
import { socketPair } from "../../testing/socket-pair.ts";
import { splice } from "./splice.ts";

async function spliced() {
  const [client, instance] = await Promise.all([socketPair(true), socketPair(false)]);
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
