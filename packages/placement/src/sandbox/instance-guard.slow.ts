import type { PlacementKind } from "../interface/placement.ts";
import { temporaryDirectory } from "../testing/placements.ts";
import { familyOf } from "../testing/processes.ts";
import { describeWith } from "../testing/requirements.ts";
import { startServer } from "../testing/servers.ts";
import { readdirSync, readlinkSync } from "node:fs";
import { expect, it } from "vitest";

const kinds: readonly PlacementKind[] = ["sandbox", "process"];
const leaveOpen = ["/bin/bash", "-c", 'exec 200</etc 300</; exec "$@"', "bash"];
/** Port 9229, where Node's inspector listens after a signal. */
const inspectorPort = ":240D";
const attack = `
worker=$(cat /tmp/worker 2>/dev/null || cat "$TMPDIR/worker")
for pid in $PPID $worker; do kill -USR1 $pid || echo "no process $pid"; done
i=0; while [ $i -lt 20 ]; do grep -q ${inspectorPort} /proc/net/tcp && echo "inspector open" && break; sleep 0.05; i=$((i+1)); done
for signal in TSTP TTIN TTOU; do kill -$signal $PPID || echo "no signal $signal"; done
grep -q "^State:.T" /proc/$PPID/status && echo "instance stopped"
kill -0 $PPID || echo "instance gone"
`;
const attackInBox = `
for target in $PPID -1; do kill -STOP $target 2>/dev/null && echo "stopped $target"; done
(: < /proc/$PPID/mem) 2>/dev/null && echo "memory open"
(: < /proc/$PPID/environ) 2>/dev/null && echo "environment open"
ls /proc/$PPID/fd/ 2>/dev/null
[ "$(cat /proc/1/cmdline /proc/1/environ | tr '\\0' '\\n' | grep -c -e shoal-placement-test -e ^/tmp)" = 0 ] || echo "host path shown"
find / -type s -not -path '/proc/*' 2>/dev/null | grep -v /run/shoal/egress.sock | grep instance
for fd in /proc/[0-9]*/fd/*; do readlink $fd; done | grep '^/' | grep -v -e '^/dev/' -e '^/memfd:' -e '^/proc' -e '^/var/lib/shoal/' -e '^/opt/shoal/' -e '^/usr/' -e '^/home/shoal' -e '^/tmp'
`;

for (const kind of kinds) {
  describeWith(
    ["linux", "chromium", ...(kind === "sandbox" ? (["bubblewrap"] as const) : [])],
    `code in a ${kind} placement`,
    () => {
      it("cannot take over or stop its instance, and does not inherit file descriptors of the service", async () => {
        const sessionsDir = await temporaryDirectory();
        const { served } = await startServer(
          {
            kind,
            sessionsDir,
            warm: 0,
            sessionDiskBytes: 256 * 2 ** 20,
            code: 'require("fs").writeFileSync(require("os").tmpdir() + "/worker", String(process.pid));',
            exec: kind === "sandbox" ? attack + attackInBox : attack,
          },
          { wrapper: leaveOpen },
        );
        expect(served.printed).toBe("");
        const opened = familyOf(served.instance.pid)
          .filter(({ pid }) => kind === "process" || pid !== served.instance.pid)
          .flatMap(({ pid }) => linksOf(pid));
        expect(opened.length).toBeGreaterThan(0);
        expect(opened.filter((path) => path === "/" || path === "/etc")).toEqual([]);
      });
    },
  );
}

function linksOf(pid: number): readonly string[] {
  const folder = `/proc/${String(pid)}/fd`;
  try {
    return readdirSync(folder).map((descriptor) => readlinkSync(`${folder}/${descriptor}`));
  } catch {
    return [];
  }
}
