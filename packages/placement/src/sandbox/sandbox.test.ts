import type { Instance } from "../interface/placement.ts";
import { examineSandbox } from "./support.ts";
import { openPlacement, runInside } from "../testing/placements.ts";
import { describeWith } from "../testing/requirements.ts";
import { familyOf } from "../testing/processes.ts";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { expect, it } from "vitest";

const support = await examineSandbox();
const hasInterfaces = support.works && support.interfaces;

const acquireBox = async (): Promise<Instance> => {
  const { placement } = await openPlacement({ kind: "sandbox", standIn: "fine" });
  return placement.acquire({ session_id: "s1", timeout_seconds: 3_600 });
};
const inside = async (box: Instance, command: string): Promise<string> => (await runInside(box, command)).stdout.trim();

describeWith(["linux", "chromium", "bubblewrap"], "a box", () => {
  it("runs as a separate user without capabilities, and cannot gain any", async () => {
    const box = await acquireBox();
    expect(await inside(box, "id -u; id -g; id -un; id -G")).toBe("1000\n1000\nshoal\n1000");
    const status = await inside(box, "cat /proc/self/status");
    for (const field of ["CapInh", "CapPrm", "CapEff", "CapAmb"])
      expect(status).toMatch(new RegExp(`${field}:\\s+0{16}`));
    expect(status).toMatch(/NoNewPrivs:\s+1/);
    expect(status).toMatch(/Seccomp:\s+2/);
    // Chromium needs user namespaces, but no program may mount in them.
    expect(await inside(box, "unshare --user --map-root-user sh -c 'id -u; mount -t tmpfs none /tmp' 2>&1")).toMatch(
      /^0\n.*permi/is,
    );
    const outside = new Set(
      familyOf(box.pid)
        .filter(({ name }) => name === "node" || name === "MainThread")
        .map(({ pid }) => /^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]),
    );
    expect(outside.size).toBe(1);
    expect(outside).not.toContain("0");
  });

  it("hides the processes, environments and arguments of the host", async () => {
    process.env.SHOAL_TEST_SECRET = "hunter2";
    const box = await acquireBox();
    delete process.env.SHOAL_TEST_SECRET;
    expect((await inside(box, "ls -d /proc/[0-9]*")).split("\n").length).toBeLessThan(8);
    expect(await inside(box, "cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\\0' '\\n'; env")).not.toContain(
      "hunter2",
    );
    const names = (await inside(box, "env")).split("\n").map((line) => line.split("=")[0] ?? "");
    expect(names.sort()).toEqual([
      "HOME",
      "LANG",
      "LOGNAME",
      "PATH",
      "PWD",
      "SHELL",
      "SHOAL_INSTANCE",
      "TMPDIR",
      "USER",
    ]);
    expect(
      await inside(
        box,
        "for fd in /proc/[0-9]*/fd/*; do readlink $fd; done | grep -v -e '^pipe:' -e '^socket:' -e '^anon_inode:' -e '^/dev/null' -e '^/proc/' | sort -u",
      ),
    ).toBe("");
  });

  it("shows only /usr and public parts of /etc of the host's files, read-only", async () => {
    const box = await acquireBox();
    expect(
      (await inside(box, "ls -A /"))
        .split("\n")
        .filter((name) => !["bin", "sbin", "lib", "lib32", "lib64"].includes(name)),
    ).toEqual(["dev", "etc", "home", "opt", "proc", "run", "tmp", "usr", "var"]);
    expect(await inside(box, "cat /etc/passwd | cut -d: -f1")).toBe("shoal\nnobody");
    expect(await inside(box, "readlink /etc/localtime; date +%Z")).toBe("../usr/share/zoneinfo/Etc/UTC\nUTC");
    expect(await inside(box, "ls /etc/shadow /etc/ssh /root /home/shoal/.. /sys /etc/machine-id 2>/dev/null")).toBe(
      "/home/shoal/..:\nshoal",
    );
    for (const path of [
      "/usr/x",
      "/etc/x",
      "/etc/passwd",
      "/etc/fonts/x",
      "/opt/shoal/program/x",
      "/opt/shoal/node",
      "/dev/x",
      "/proc/sys/kernel/core_pattern",
      "/proc/sysrq-trigger",
    ]) {
      expect((await runInside(box, `: >> ${path}`)).code, path).not.toBe(0);
    }
    for (const path of ["/x", "/tmp/x", "/home/shoal/x", "/home/shoal/Downloads/x", "/var/lib/shoal/x", "/dev/shm/x"])
      expect((await runInside(box, `: >> ${path}`)).stderr, path).toBe("");
    expect(await inside(box, "grep -v -e nosuid /proc/mounts")).toBe("");
  });

  it("hides the name of its instance's socket, and cannot replace it by a link", async () => {
    const { placement, sessionsDir } = await openPlacement({ kind: "sandbox", standIn: "fine" });
    const box = await placement.acquire({ session_id: "s1", timeout_seconds: 3_600 });
    expect(await inside(box, "find / -name instance.sock -not -path '/proc/*' 2>/dev/null")).toBe("");
    expect((await runInside(box, "rm -f /run/shoal/egress.sock")).stderr).toContain("Read-only file system");
    await inside(box, `ln -s ${sessionsDir}/elsewhere.sock /var/lib/shoal/instance.sock`);
    expect(await inside(box, "echo still here")).toBe("still here");
  });

  it("has a separate network without a way out", async () => {
    const host = createServer((socket) => socket.end("host"));
    await once(host.listen(0, "0.0.0.0"), "listening");
    const address = host.address();
    const port = typeof address === "object" ? String(address?.port) : "";
    const box = await acquireBox();
    // Both ends of the interface are in the box, without a route.
    expect((await inside(box, "cut -d: -s -f1 /proc/net/dev | tr -d ' '")).split("\n").sort()).toEqual(
      hasInterfaces ? ["eth0", "lo", "peer0"] : ["lo"],
    );
    // Addresses that become valid after the start would end requests of Chromium with ERR_NETWORK_CHANGED.
    expect((await inside(box, "cat /proc/net/if_inet6")).split("\n").map((line) => line.split(/ +/).at(-1))).toEqual([
      "lo",
    ]);
    expect(await inside(box, "tail -n +2 /proc/net/route")).toBe("");
    const dial = (host: string) =>
      inside(box, `/opt/shoal/node -e 'require("net").connect(80,"${host}").on("error",(e)=>console.log(e.code))'`);
    expect(await Promise.all(["10.0.2.1", "10.0.2.2", "93.184.215.14", "2606:4700::1"].map(dial))).toEqual(
      Array(4).fill("ENETUNREACH"),
    );
    const reach = `/opt/shoal/node -e 'const s=require("net").connect(${port},"127.0.0.1");s.on("data",d=>console.log(String(d)));s.on("error",e=>console.log(e.code))'`;
    expect(await inside(box, reach)).toBe("ECONNREFUSED");
    // Abstract sockets belong to the network namespace.
    expect(await inside(box, "grep -c @ /proc/net/unix")).toBe("0");
    host.close();
  });

  it("enforces its limits", async () => {
    const box = await acquireBox();
    const limits = await inside(box, "cat /proc/self/limits");
    expect(limits).toMatch(/Max processes\s+1024\s+1024/);
    expect(limits).toMatch(/Max core file size\s+0\s+0/);
    expect((await runInside(box, "head -c 600M /dev/zero > /dev/shm/full")).stderr).toContain("No space left");
    const forked = await inside(
      box,
      "(i=0; while [ $i -lt 1200 ]; do sleep 3600 & i=$((i+1)); done) >/dev/null 2>&1; set -- /proc/[0-9]*; echo $#",
    );
    expect(Number(forked)).toBeGreaterThan(900);
    expect(Number(forked)).toBeLessThan(1024);
  });
});
