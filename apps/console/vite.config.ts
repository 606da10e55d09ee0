import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

export default defineConfig({
  // Relative, because the service may have a path prefix. The service writes the `<base>` of the document.
  base: "./",
  plugins: [react()],
  // The service replaces it by a random value in each response.
  html: { cspNonce: "SHOAL_NONCE" },
  build: {
    target: "es2023",
    // Inlined files would need exceptions in the content security policy.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1000,
    // `tools/bundle-sizes.mjs` reads it.
    manifest: true,
    // The page of a recording opens without signing in.
    rolldownOptions: { input: ["index.html", "replay.html"] },
  },
});
