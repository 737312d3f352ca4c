import node from "@astrojs/node";

export default {
  output: "server",
  adapter: node({ mode: "standalone" }),
  // Forms of other pages are refused by the handler itself; clients that are no browsers send no origin.
  security: { checkOrigin: false },
};
