import { containerUser } from "./container/container-spec.ts";
import { ContainerEngine } from "./container/engine.ts";
import { engineAddress } from "./container/engine-address.ts";
import { folderLabel } from "./container/leftovers.ts";
import { openPlacement, runInside, temporaryDirectory } from "./testing/placements.ts";
import { describeWith, needsOf, testEngine } from "./testing/requirements.ts";
import { mkdir, readFile, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";

const assign = { session_id: "s1", timeout_seconds: 3_600 };

describeWith(needsOf("docker"), "a container of a session", () => {
  it("has no network, privileges, writable system or sleep, and a limit of memory", async () => {
    const { placement } = await openPlacement({
      kind: "docker",
      standIn: "fine",
      sessionMemoryBytes: 512 * 2 ** 20,
      sessionDiskBytes: 16 * 2 ** 20,
    });
    expect(placement.sleep).toEqual({
      pagesOut: false,
      unableBecause: "Sessions are containers, and only sessions in a sandbox can be frozen.",
    });
    const instance = await placement.acquire(assign);
    const inside = async (command: string): Promise<string> => (await runInside(instance, command)).stdout.trim();
    expect(await inside("ls /sys/class/net")).toBe("lo");
    expect(await inside("id -u")).toBe(String(containerUser));
    const status = await inside("cat /proc/self/status");
    expect(status).toMatch(/CapEff:\s+0{16}[^]*CapBnd:\s+0{16}[^]*NoNewPrivs:\s+1[^]*Seccomp:\s+2/);
    for (const path of ["/usr/x", "/etc/x", "/opt/x", "/run/shoal/x", "/run/shoal-listen/x", "/opt/shoal-program/x"])
      expect((await runInside(instance, `: > ${path}`)).code, path).not.toBe(0);
    expect((await runInside(instance, "dd if=/dev/zero of=/tmp/x bs=1M count=17")).code).not.toBe(0);
    expect(await inside("ls /run/shoal /run/shoal-listen")).not.toContain("instance.sock");
    const [, group = ""] =
      /^\d+:memory:(.+)$/m.exec(await readFile(`/proc/${String(instance.pid)}/cgroup`, "utf8")) ?? [];
    const limit =
      group === "" ? undefined : await readFile(`/sys/fs/cgroup/memory${group}/memory.limit_in_bytes`, "utf8");
    if (limit !== undefined) expect(Number(limit)).toBe(512 * 2 ** 20);
  });

  it("is removed by the next server when its own server was killed", async () => {
    const sessionsDir = await temporaryDirectory();
    const first = await openPlacement({ kind: "docker", standIn: "fine", sessionsDir });
    const instance = await first.placement.acquire(assign);
    const engine = new ContainerEngine(await engineAddress(testEngine ?? "", undefined));
    const [container] = (await engine.labelled(folderLabel)).filter(({ value }) => dirname(value) === sessionsDir);
    expect(container).toBeDefined();
    // As after the sweep of the folders of a killed server.
    const away = await temporaryDirectory();
    await mkdir(away, { recursive: true });
    await rename(container?.value ?? "", join(away, "gone"));
    await openPlacement({ kind: "docker", standIn: "fine", sessionsDir });
    expect((await engine.labelled(folderLabel)).filter(({ id }) => id === container?.id)).toEqual([]);
    expect(await instance.ended).toMatchObject({ reason: "instance_lost" });
  });
});
