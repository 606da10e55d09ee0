import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { checkRequirement, readRequirements } from "./python-requirements.ts";

async function folderOf(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "shoal-requirements-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  return folder;
}

it("reads names, versions, markers and hashes, and files that it includes", async () => {
  const folder = await folderOf({
    "requirements.txt":
      "requests==2.32.3 # pinned\nuvicorn[standard] >= 0.30, < 1; python_version >= '3.9'\n-r more/base.txt\n-c limits.txt\n--pre\n",
    "more/base.txt": "pydantic==2.9.2 \\\n    --hash=sha256:00ff\n",
    "limits.txt": "idna<4\n",
  });
  const { constraints, requirements } = await readRequirements(folder, "requirements.txt");
  expect({ constraints: [...constraints], requirements: [...requirements] }).toEqual({
    requirements: [
      "requests==2.32.3",
      "uvicorn[standard] >= 0.30, < 1; python_version >= '3.9'",
      "pydantic==2.9.2      --hash=sha256:00ff",
    ],
    constraints: ["idna<4"],
  });
});

it.each([
  ".",
  "./local",
  "../local",
  "/etc",
  "local/",
  "-e .",
  "--editable=.",
  "--no-binary :all:",
  "--only-binary :none:",
  "--index-url https://evil.example/simple",
  "-i https://evil.example/simple",
  "--extra-index-url=https://evil.example/simple",
  "--find-links /opt",
  "--trusted-host evil.example",
  "--config-settings x=y",
  "git+https://evil.example/x.git",
  "evil @ git+https://evil.example/x.git",
  "evil@https://files.pythonhosted.org/evil-1.tar.gz",
  "https://files.pythonhosted.org/evil-1.tar.gz",
  "file:///etc/passwd",
  "evil @ file:///work/evil",
  "evil-1.0.tar.gz/",
  "requests --global-option=x",
  "requests; python_version > '3' @ file:///x",
  "${HOME}",
])("refuses %j", async (line) => {
  const folder = await folderOf({ "requirements.txt": `${line}\n` });
  await expect(readRequirements(folder, "requirements.txt")).rejects.toThrow(
    /is not possible in builds|outside of the/,
  );
});

it.each(["x==1\n--no-binary :all:", "x==1\r-e .", "x\u2028-e ."])(
  "refuses a name of a lockfile with a line break: %j",
  (line) => {
    expect(() => checkRequirement(line, "uv.lock")).toThrow("uv.lock");
  },
);

it("reads no file outside of the sources, also through a link", async () => {
  const folder = await folderOf({ "requirements.txt": "-r /etc/hostname\n", "other.txt": "-r link.txt\n" });
  await symlink("/etc/hostname", join(folder, "link.txt"));
  for (const name of ["requirements.txt", "other.txt"])
    await expect(readRequirements(folder, name)).rejects.toThrow("missing, or outside of the sources");
});
