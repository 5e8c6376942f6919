import type { RequestHandler } from "express";

const localOrigin = /^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/;
const preflightMaxAgeSeconds = 600;

/** Allows only pages of this machine to read responses (Fetch Standard, "CORS protocol"). Responds to every OPTIONS request. */
export const allowLocalOrigins: RequestHandler = (request, response, next) => {
  response.vary("Origin");
  const { origin } = request.headers;
  if (origin !== undefined && localOrigin.test(origin)) {
    response.setHeader("Access-Control-Allow-Origin", origin);
    response.setHeader("Access-Control-Allow-Methods", "GET, POST");
    response.setHeader("Access-Control-Allow-Headers", "content-type");
    response.setHeader("Access-Control-Max-Age", preflightMaxAgeSeconds);
  }
  if (request.method === "OPTIONS") response.status(204).end();
  else next();
};
