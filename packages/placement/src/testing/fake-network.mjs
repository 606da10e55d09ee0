// Inside a pod with its own network: forwards connections to a socket, which the pod shares with the fake node, to the
// port of the pod. Then runs the command of the pod.
import { spawn } from "node:child_process";
import { connect, createServer } from "node:net";

const [socket, host, port, ...command] = process.argv.slice(2);
createServer({ allowHalfOpen: true }, (outer) => {
  const inner = connect({ host, port: Number(port), allowHalfOpen: true });
  for (const [one, other] of [
    [inner, outer],
    [outer, inner],
  ]) {
    one.on("error", () => other.destroy());
    one.pipe(other);
  }
}).listen(socket, () => {
  spawn(command[0] ?? "", command.slice(1), { stdio: "inherit" }).on("exit", (code) => process.exit(code ?? 1));
});
