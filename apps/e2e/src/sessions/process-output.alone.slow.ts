import { describe, expect, it } from "vitest";
import { placements } from "../testing/components.ts";
import { memoryDuring } from "../testing/memory.ts";
import { instances } from "../testing/processes.ts";
import { useService } from "../testing/service.ts";
import { useSession } from "../testing/session.ts";

const streamedBytes = 2 ** 30;

describe.each(placements)("a gigabyte of a process's output in the placement $title", ({ placement, skip }) => {
  describe.skipIf(skip)("of a session", () => {
    const test = useService(() => ["--placement", placement]);
    const session = useSession(test);

    it("reaches a reader completely with bounded memory", async () => {
      const { process: processes } = test.shoal.browsers;
      const [instance] = instances(test.processes());
      if (instance === undefined) throw new Error("The instance was not found among the service's processes.");
      const { process_id } = await processes.spawn(session.id, {
        command: "sh",
        args: ["-c", `echo ready >&2; read go; head -c ${String(streamedBytes)} /dev/zero; echo end >&2`],
      });
      const servers = Object.fromEntries(test.pids.entries());
      const { result, growth } = await memoryDuring({ ...servers, instance: instance.pid }, async () => {
        const received = { stdout: 0, stderr: 0, exitCode: undefined as number | undefined };
        const ready = Promise.withResolvers<undefined>();
        const reading = (async () => {
          for await (const piece of processes.output(session.id, process_id, {
            onGap: () => expect.unreachable("output was lost"),
          })) {
            if (piece.kind === "exit") received.exitCode = piece.exitCode;
            else received[piece.kind] += piece.bytes.length;
            ready.resolve(undefined);
          }
        })();
        // A process does not wait for readers that have not connected yet.
        await ready.promise;
        await processes.write(session.id, process_id, "\n");
        await reading;
        return received;
      });
      expect(result).toEqual({ stdout: streamedBytes, stderr: "ready\nend\n".length, exitCode: 0 });
      // 4 MiB are buffered; the rest is uncollected garbage of V8.
      const { instance: ofInstance, ...ofServers } = growth;
      expect(ofInstance).toBeLessThan(320 * 2 ** 20);
      expect(Math.max(...Object.values(ofServers))).toBeLessThan(160 * 2 ** 20);
    });

    it("neither stops a process without readers nor fills the memory", async () => {
      const { process: processes } = test.shoal.browsers;
      const [instance] = instances(test.processes());
      if (instance === undefined) throw new Error("The instance was not found among the service's processes.");
      const { growth } = await memoryDuring({ instance: instance.pid }, async () => {
        const { process_id } = await processes.spawn(session.id, {
          command: `head -c ${String(streamedBytes)} /dev/zero`,
        });
        await expect.poll(async () => (await processes.status(session.id, process_id)).state).toBe("exited");
      });
      expect(growth.instance).toBeLessThan(320 * 2 ** 20);
    });
  });
});
