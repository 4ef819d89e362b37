package openapi

// Mounted is the handler that At mounts.
var Mounted = siteHandler
