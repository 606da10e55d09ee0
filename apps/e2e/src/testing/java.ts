import { spawnSync } from "node:child_process";
import { join } from "node:path";

const packages = process.env.SHOAL_TEST_JAVA;

/** Arguments of `java` for a program of one source file with the packages of `java-packages/pom.xml`. */
export const javaArguments = (program: string): readonly string[] => ["-classpath", join(packages ?? "", "*"), program];

/** Why programs of Java cannot run here. In CI that has installed the packages, the programs run and fail. */
export function missingForJava(): string | undefined {
  if (packages === undefined)
    return "no Java packages: apps/e2e/java-packages/install FOLDER, and SHOAL_TEST_JAVA=FOLDER";
  if (process.env.SHOAL_REQUIRE_ALL === "1") return undefined;
  return spawnSync("java", ["-version"]).status === 0 ? undefined : "no Java: apt install default-jdk-headless";
}
