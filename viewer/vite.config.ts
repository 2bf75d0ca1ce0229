import { defineConfig } from "vite";

// Names without hashes: the bundle is committed, and its history should show what changed.
export default defineConfig({
  base: "/",
  build: {
    outDir: "../src/noveltree/viewer/page",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: false,
    assetsInlineLimit: 0,
    rollupOptions: {
      output: {
        entryFileNames: "assets/page.js",
        chunkFileNames: "assets/[name].js",
        assetFileNames: "assets/page[extname]",
      },
    },
  },
});
