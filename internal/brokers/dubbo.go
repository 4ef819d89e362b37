package brokers

// DubboJars are the libraries of a program of Java with Dubbo 3.3.6, for [Jars].
var DubboJars = map[string]string{
	"org/apache/dubbo/dubbo/3.3.6/dubbo-3.3.6.jar":                                                               "d40260c11f92a400ac8f10569e457eb60c5043f7239091f7f433d3a56722feb2",
	"com/alibaba/fastjson2/fastjson2/2.0.56/fastjson2-2.0.56.jar":                                                "8e9542274debd578beadb98244019f08e344a7e711690850ecdb66c5cecaa98e",
	"org/apache/dubbo/hessian-lite/4.0.4/hessian-lite-4.0.4.jar":                                                 "02adbd46898380a487720b125f8ed598c46ce3c976b182a971329bf4d2f0839c",
	"org/javassist/javassist/3.30.2-GA/javassist-3.30.2-GA.jar":                                                  "eba37290994b5e4868f3af98ff113f6244a6b099385d9ad46881307d3cb01aaf",
	"io/netty/netty-buffer/4.2.2.Final/netty-buffer-4.2.2.Final.jar":                                             "4820eeb2d3db269b20b30711e3d7d21979664249aaf10fc67f90dee935810747",
	"io/netty/netty-codec/4.2.2.Final/netty-codec-4.2.2.Final.jar":                                               "6a4ea3cedc831a377e20e32da5df4d2a47b954810e941138e3358e313db3a7f9",
	"io/netty/netty-codec-base/4.2.2.Final/netty-codec-base-4.2.2.Final.jar":                                     "76987614ccb2fda7d3292b69ba5b61351f30e91bf5c7d8fa4b51bc32c9f67456",
	"io/netty/netty-codec-compression/4.2.2.Final/netty-codec-compression-4.2.2.Final.jar":                       "005734e20aceb5e2c030033f7e042c81ee444497efd110cfca8de445642652ac",
	"io/netty/netty-codec-http/4.2.2.Final/netty-codec-http-4.2.2.Final.jar":                                     "587377490ba0a73e2b928019383993fcccea30193eca42c4a164f2eb4d5b5642",
	"io/netty/netty-codec-http2/4.2.2.Final/netty-codec-http2-4.2.2.Final.jar":                                   "1fd8512c2f9f242cc8f425782cd8cf04fc6c2db68736f82cd5c1d95cf6035513",
	"io/netty/netty-codec-socks/4.2.2.Final/netty-codec-socks-4.2.2.Final.jar":                                   "801fb0cdc8aca4c2a95081df19c1db6d1020e2974cbe07ef145344b02dbf686c",
	"io/netty/netty-common/4.2.2.Final/netty-common-4.2.2.Final.jar":                                             "5d022f3acad74cb0f195f60213500a4000d1340e5e941edaf1a0e756686b9bae",
	"io/netty/netty-handler/4.2.2.Final/netty-handler-4.2.2.Final.jar":                                           "d4ef582c78125457baa0cfa52992b5fb1bb9172d1a2c03b726e8b26e17d3fe2c",
	"io/netty/netty-handler-proxy/4.2.2.Final/netty-handler-proxy-4.2.2.Final.jar":                               "23b1a31143d6278861631b7c2dc36bf46aa1af39e244ba71d03127ab8eced5e3",
	"io/netty/netty-resolver/4.2.2.Final/netty-resolver-4.2.2.Final.jar":                                         "fa7841ffe2e39d52251814fb8560d6936b10ae7c67453ee50426b83fd5170ba0",
	"io/netty/netty-transport/4.2.2.Final/netty-transport-4.2.2.Final.jar":                                       "116d766a1af4722fe76a4cdaed969644985d44e08ec1337d2dbab697dd109603",
	"io/netty/netty-transport-classes-epoll/4.2.2.Final/netty-transport-classes-epoll-4.2.2.Final.jar":           "11fe3f5d46f94766c5719474c015fecce555ba99264f958d55d8a63e390bcbc4",
	"io/netty/netty-transport-native-unix-common/4.2.2.Final/netty-transport-native-unix-common-4.2.2.Final.jar": "aa8821a7ea2ca47f62740bd1f37d67deb97824cc77e76dde6ae2c439a923fc9d",
	"com/google/protobuf/protobuf-java/3.25.8/protobuf-java-3.25.8.jar":                                          "72bdb32eb38cafb7dcd288262c29a34d57cba2e19101af9685155ba8c0a56008",
	"org/yaml/snakeyaml/2.4/snakeyaml-2.4.jar":                                                                   "ef779af5d29a9dde8cc70ce0341f5c6f7735e23edff9685ceaa9d35359b7bb7f",
}

// DubboZooKeeperJars are those that such a program needs besides to use ZooKeeper.
var DubboZooKeeperJars = map[string]string{
	"org/apache/zookeeper/zookeeper/3.9.5/zookeeper-3.9.5.jar":                             "936d025db1a85f085edea25048c3f5b3de5fc29329c371a10925e3b78b0b38a0",
	"org/apache/zookeeper/zookeeper-jute/3.9.5/zookeeper-jute-3.9.5.jar":                   "abcbc7f9d6c493daa118da6fa3061a201e2c521217526e8535adfb56b629e52a",
	"org/apache/curator/curator-x-discovery/5.8.0/curator-x-discovery-5.8.0.jar":           "c7639d1cf71ce5692a5850cdd489d8def1b981b578147f40a86435f17f1ddebd",
	"org/apache/curator/curator-recipes/5.8.0/curator-recipes-5.8.0.jar":                   "b9fe8008b3d0e03aa43965409655ef361a19323d99e72c84fa69506753157b92",
	"org/apache/curator/curator-framework/5.8.0/curator-framework-5.8.0.jar":               "31cbd6ee22b7b5fe3db49023e568b5aeda569f62370cf4df9a8fb7f168d2dcce",
	"org/apache/curator/curator-client/5.8.0/curator-client-5.8.0.jar":                     "41562acc6b2172a8bea5179dd649f73001fc883c1a86b625b56149b766bee660",
	"org/slf4j/slf4j-api/2.0.13/slf4j-api-2.0.13.jar":                                      "e7c2a48e8515ba1f49fa637d57b4e2f590b3f5bd97407ac699c3aa5efb1204a9",
	"com/fasterxml/jackson/core/jackson-databind/2.13.5/jackson-databind-2.13.5.jar":       "5fedb24b2356491815d18267f65da9a21dd67413345ad7795f221afa25c78984",
	"com/fasterxml/jackson/core/jackson-core/2.13.5/jackson-core-2.13.5.jar":               "48f36a025311d0464ad8dda4512a20c79e279a9550f63f3179d731d94482474b",
	"com/fasterxml/jackson/core/jackson-annotations/2.13.5/jackson-annotations-2.13.5.jar": "80aea8ed7232db5040ced4b3f982f29da95bb3d802343dbf6fd82ccd98c21c4f",
}

// DubboNacosJars are those that such a program needs besides those for ZooKeeper to use Nacos.
var DubboNacosJars = map[string]string{
	"com/alibaba/nacos/nacos-auth-plugin/2.5.1/nacos-auth-plugin-2.5.1.jar":                         "7ff5d9ff863b8b8733bc94665f63596f4b71e071d8f98de76e1ef125a86e74a6",
	"com/alibaba/nacos/nacos-client/2.5.1/nacos-client-2.5.1.jar":                                   "7f8dd4b26ea79391f1aa6118c797dda67b541c797adc90cdf3176b827ed2df77",
	"com/alibaba/nacos/nacos-encryption-plugin/2.5.1/nacos-encryption-plugin-2.5.1.jar":             "92349cc0e6a850d1d95bdfc11d894268722e6487cd01c90d8ef025127c0de4d5",
	"commons-codec/commons-codec/1.11/commons-codec-1.11.jar":                                       "e599d5318e97aa48f42136a2927e6dfa4e8881dff0e6c8e3109ddbbff51d7b7d",
	"io/prometheus/simpleclient/0.15.0/simpleclient-0.15.0.jar":                                     "a43d6c00e3964a7063c1360ddcddc598df4f8e659a8313b27f90e4c555badb1d",
	"io/prometheus/simpleclient_tracer_common/0.15.0/simpleclient_tracer_common-0.15.0.jar":         "1baef082e619c06262e23de1b46ad35eb4df36ceb19be06ac7ef32a9833e12a4",
	"io/prometheus/simpleclient_tracer_otel/0.15.0/simpleclient_tracer_otel-0.15.0.jar":             "0595251da49aa7997777b365ffdf97f5e2e88cd7f0dacf49add91b4fc8222b50",
	"io/prometheus/simpleclient_tracer_otel_agent/0.15.0/simpleclient_tracer_otel_agent-0.15.0.jar": "0cbb4c29d17e9fe71bb2cec013c2999ae8a9050f237ad33211761b40d2586e0b",
	"org/apache/httpcomponents/httpasyncclient/4.1.5/httpasyncclient-4.1.5.jar":                     "0c1877489a9d1ba4fa50f6cfcab11d1123618858cb31d56afaab5afdd5064d99",
	"org/apache/httpcomponents/httpclient/4.5.13/httpclient-4.5.13.jar":                             "6fe9026a566c6a5001608cf3fc32196641f6c1e5e1986d1037ccdbd5f31ef743",
	"org/apache/httpcomponents/httpcore-nio/4.4.15/httpcore-nio-4.4.15.jar":                         "44ee3edb7d5e96d3e6d00263c838af23dd2ce67554129714ea30ae447ba95b92",
	"org/apache/httpcomponents/httpcore/4.4.16/httpcore-4.4.16.jar":                                 "6c9b3dd142a09dc468e23ad39aad6f75a0f2b85125104469f026e52a474e464f",
}
