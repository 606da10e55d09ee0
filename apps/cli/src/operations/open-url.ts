import { spawn } from "node:child_process";
import { hostname as machineName, userInfo } from "node:os";

const openers: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** An opener that runs longer is the browser itself. A failing opener exits within milliseconds. */
const openerTimeoutMs = 3000;

/** Opens a web page in the browser of this machine. @returns whether the opener exited with 0 or is still running. */
export async function openUrl(url: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  // Never let the system open other schemes.
  if (!/^https?:\/\//.test(url)) return false;
  const [program = "", ...args] =
    env.BROWSER !== undefined && env.BROWSER !== "" ? [env.BROWSER] : (openers[process.platform] ?? ["xdg-open"]);
  return new Promise((resolve) => {
    const child = spawn(program, [...args, url], { detached: true, stdio: "ignore" });
    const settle = (opened: boolean) => {
      clearTimeout(timer);
      child.unref();
      resolve(opened);
    };
    const timer = setTimeout(settle, openerTimeoutMs, true);
    child.once("error", () => {
      settle(false);
    });
    child.once("exit", (status) => {
      settle(status === 0);
    });
  });
}

/** Whether a host name of an address is this machine, for every browser. */
export function isOwnHost(hostname: string): boolean {
  return /^(?:(?:.+\.)?localhost|127\.[\d.]+|\[::1\])$/.test(hostname);
}

/** The next step where {@link openUrl} cannot open a web page. A loopback address needs a port that ssh forwards. */
export function openElsewhere(url: string): string {
  const { hostname, port, protocol } = new URL(url);
  const fails = "Cannot open a browser on this machine.";
  if (!isOwnHost(hostname)) return `${fails} Open this URL on another machine:`;
  const used = port === "" ? (protocol === "https:" ? "443" : "80") : port;
  return `${fails} Run this on your own machine, and open the URL there:\n  ssh -N -L ${used}:${hostname}:${used} ${userName()}${machineName()}`;
}

/** Empty for a user without a name, as in some containers. */
function userName(): string {
  try {
    return `${userInfo().username}@`;
  } catch {
    return "";
  }
}
