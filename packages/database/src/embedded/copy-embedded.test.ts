import { lstat, mkdir, mkdtemp, readFile, readlink, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { copyEmbedded } from "./copy-embedded.ts";

it.skipIf(process.platform === "win32")("copies files with their modes, and links as links", async () => {
  const folder = await mkdtemp(join(tmpdir(), "shoal-copy-"));
  try {
    const [from, to] = [join(folder, "from"), join(folder, "to")];
    await mkdir(join(from, "lib"), { recursive: true });
    await writeFile(join(from, "lib", "libicui18n.so.60.2"), "library", { mode: 0o600 });
    await symlink("libicui18n.so.60.2", join(from, "lib", "libicui18n.so.60"));
    await symlink("missing", join(from, "lib", "dangling"));
    await copyEmbedded(from, to);
    expect(await readlink(join(to, "lib", "libicui18n.so.60"))).toBe("libicui18n.so.60.2");
    expect(await readlink(join(to, "lib", "dangling"))).toBe("missing");
    expect(await readFile(join(to, "lib", "libicui18n.so.60"), "utf8")).toBe("library");
    expect((await lstat(join(to, "lib", "libicui18n.so.60.2"))).mode & 0o777).toBe(0o600);
  } finally {
    await rm(folder, { recursive: true });
  }
});
