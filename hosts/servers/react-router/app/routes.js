export default [{ path: "api/*", file: "routes/api.js" }];
