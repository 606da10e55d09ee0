import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// `--mode replay` builds the page of a recording, which opens without signing in, into the same folder. Built together,
// it would load what only the console needs.
export default defineConfig(({ mode }) => ({
  // Relative, because the service may have a path prefix. The service writes the `<base>` of the document.
  base: "./",
  plugins: [react()],
  // The service replaces it by a random value in each response.
  html: { cspNonce: "SHOAL_NONCE" },
  build: {
    target: "es2023",
    emptyOutDir: mode !== "replay",
    // Inlined files would need exceptions in the content security policy.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1000,
    // `tools/bundle-sizes.mjs` reads them.
    manifest: mode === "replay" ? ".vite/replay.json" : true,
    rolldownOptions: {
      input: mode === "replay" ? "replay.html" : "index.html",
      output: {
        codeSplitting: {
          // Without groups, each set of pages with a common module has a file, and the first page loads 97 of them.
          groups: [
            { name: "shell", tags: ["$initial"], priority: 3 },
            { name: "most-pages", minShareCount: 20, includeDependenciesRecursively: false, priority: 2 },
            { name: "some-pages", minShareCount: 5, includeDependenciesRecursively: false, priority: 1 },
          ],
        },
      },
    },
  },
}));
