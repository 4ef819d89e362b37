"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
function __assignType(fn, args) {
    fn.__type = args;
    return fn;
}
// deepkit's HTTP kernel on Node's http module, validated by its run-time types. deepkit.js is this file as Deepkit's type
// compiler writes it: see README.md in http of the lab.
const app_1 = require("@deepkit/app");
/*@ts-ignore*/
var { __ΩHttpBody } = require('@deepkit/http');
const http_1 = require("@deepkit/http");
/*@ts-ignore*/
var { __ΩMinimum, __ΩMinLength, __ΩMaxLength } = require('@deepkit/type');
const http_2 = require("http");
const { host, port, updated, world } = require('./user');
const __ΩUser = [() => __ΩMinimum, 0, 'id', () => __ΩMinLength, 1, () => __ΩMaxLength, 64, 'name', () => __ΩMinLength, 1, () => __ΩMaxLength, 64, 'surname', 'lastUpdate', 'User', 'PP(!."o!"K4#P&.%o$".\'o&"K4(P&.*o)".,o+"K4-T4.Mw/y'];
const app = new app_1.App({ imports: [new http_1.HttpModule()] });
const router = app.get(http_1.HttpRouterRegistry);
router.get('/hello', __assignType(() => world, ['hello', '', 'PP&4!M/"']));
router.post('/updateUser', __assignType((body) => updated(body), [() => __ΩHttpBody, () => __ΩUser, 'body', () => __ΩUser, '', 'Pn"o!"2#n$/%']));
const kernel = app.get(http_1.HttpKernel);
(0, http_2.createServer)(__assignType((req, res) => { kernel.handleRequest(req, res); }, ['req', 'res', '', 'P"2!"2""/#'])).listen(port, host);
