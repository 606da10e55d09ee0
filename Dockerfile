# The image of the service: `docker build --tag shoal .` in a clone. docs/deploying.md explains how to run it.
# The base is pinned by version. To pin its content as well: --build-arg NODE_IMAGE=node:24.22.3-bookworm-slim@sha256:…
ARG NODE_IMAGE=docker.io/library/node:24.22.3-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /build
# Fetches the packages of the lockfile in a separate layer, which stays valid while only code changes.
COPY package.json pnpm-lock.yaml pnpm-workspace.yaml ./
RUN npm install --global "$(node -p 'require("./package.json").packageManager')" && pnpm fetch
COPY . .
RUN --mount=type=cache,target=/build/.turbo/cache \
    pnpm install --frozen-lockfile --offline \
 && pnpm exec turbo run build --filter=@shoal/cli --output-logs=errors-only \
 && node tools/image-files.mjs /opt/shoal

FROM ${NODE_IMAGE}
# The security updates of Debian since the base was built, then what the sessions need. No package manager of Node remains.
RUN apt-get update \
 && apt-get upgrade --yes \
 && apt-get install --yes --no-install-recommends \
      bubblewrap ca-certificates chromium chromium-driver chromium-headless-shell ffmpeg iproute2 libnss3-tools tini util-linux xvfb \
      python3 python3-pip \
      fontconfig fonts-freefont-ttf fonts-ipafont-gothic fonts-liberation fonts-noto-color-emoji fonts-tlwg-loma-otf fonts-wqy-zenhei \
 && apt-get clean \
 && rm -rf /var/lib/apt/lists/* /var/cache/fontconfig/* /var/log/apt /var/log/dpkg.log \
      /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /usr/local/bin/yarn* /opt/yarn* \
 && fc-cache --system-only \
 && install --directory --owner=node --group=node --mode=0700 /var/lib/shoal
# Sessions in containers and pods have the locales of this folder.
RUN --mount=type=bind,from=build,source=/build/tools/image-locales.mjs,target=/tmp/image-locales.mjs \
    node /tmp/image-locales.mjs /usr/lib/chromium/locales
COPY --from=build /opt/shoal /opt/shoal
# A copy of the dynamic loader that can only be executed: docs/decisions/sandbox.md. The placement docker starts Node with it.
RUN ln -s /opt/shoal/node_modules/@shoal/cli/dist/shoal.js /usr/local/bin/shoal \
 && install --mode=0111 "$(ldd /usr/local/bin/node | grep --only-matching '/[^ ]*/ld-linux[^ ]*')" /opt/shoal/loader
USER node
WORKDIR /var/lib/shoal
# `sandbox` and not `auto`: where the container's options forbid sandboxes, it must not start without isolation.
ENV NODE_ENV=production SHOAL_DATA_DIR=/var/lib/shoal SHOAL_HOST=0.0.0.0 SHOAL_PLACEMENT=sandbox
VOLUME /var/lib/shoal
EXPOSE 7777
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
  CMD ["node", "--eval", "fetch('http://127.0.0.1:7777/health').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Reaps the processes that a killed sandbox leaves to the first process of the container.
ENTRYPOINT ["/usr/bin/tini", "--"]
CMD ["shoal", "serve"]
